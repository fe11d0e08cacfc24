"""Deep Q-learning on a pole on a cart, with a replay memory and a target network."""

from __future__ import print_function

import argparse
import collections
import random

import numpy as np
import tensorflow as tf


class CartPole(object):
    """A pole on a cart that is pushed left or right; four numbers are seen, 1 is won a step."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, size=4)
        self.count = 0
        return self.state

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        sin, cos = np.sin(angle), np.cos(angle)
        push = (force + 0.05 * spin ** 2 * sin) / 1.1
        turning = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos ** 2 / 1.1))
        moving = push - 0.05 * turning * cos / 1.1
        self.state = np.array(
            [x + 0.02 * v, v + 0.02 * moving, angle + 0.02 * spin, spin + 0.02 * turning])
        self.count += 1
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21 or self.count >= 200
        return self.state, 1.0, done


class DQN(object):
    def __init__(self, sess, args, state_dim=4, n_actions=2):
        self.sess, self.args, self.n_actions = sess, args, n_actions
        self.replay_buffer = collections.deque(maxlen=args.memory)
        self.global_step = tf.train.get_or_create_global_step()
        self.state = tf.placeholder(tf.float32, [None, state_dim], name="s")
        self.next_state = tf.placeholder(tf.float32, [None, state_dim], name="s_")
        self.reward = tf.placeholder(tf.float32, [None], name="r")
        self.done = tf.placeholder(tf.float32, [None], name="done")
        self.action = tf.placeholder(tf.int32, [None], name="a")

        self.q = self._network(self.state, "eval_net", ["eval_params", "variables"])
        self.q_next = self._network(self.next_state, "target_net", ["target_params", "variables"])
        self._training()
        eval_params = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="eval_net")
        target_params = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="target_net")
        with tf.variable_scope("hard_replacement"):
            self.replace = [tf.assign(t, e) for t, e in zip(target_params, eval_params)]
        with tf.variable_scope("soft_replacement"):
            self.soft = [t.assign((1 - 0.01) * t + 0.01 * e)
                         for t, e in zip(target_params, eval_params)]

    def _network(self, inputs, name, collections_):
        rng = np.random.RandomState(21)
        with tf.variable_scope(name):
            net = inputs
            for i, size in enumerate([20, 20, self.n_actions]):
                n_in = net.get_shape().as_list()[1]
                with tf.variable_scope("l%d" % (i + 1)):
                    w = tf.get_variable("w", initializer=(
                        rng.randn(n_in, size) * np.sqrt(1.0 / n_in)).astype(np.float32),
                        collections=[tf.GraphKeys.GLOBAL_VARIABLES,
                                     tf.GraphKeys.TRAINABLE_VARIABLES] + collections_)
                    b = tf.get_variable("b", [1, size], initializer=tf.constant_initializer(0.1))
                    net = tf.matmul(net, w) + b
                    if size != self.n_actions:
                        net = tf.nn.relu(net)
            return net

    def _training(self):
        with tf.variable_scope("q_target"):
            best = tf.reduce_max(self.q_next, axis=1, name="Qmax_s_")
            target = tf.stop_gradient(self.reward + self.args.gamma * (1.0 - self.done) * best)
        with tf.variable_scope("q_eval"):
            rows = tf.range(tf.shape(self.action)[0], dtype=tf.int32)
            a_indices = tf.stack([rows, self.action], axis=1)
            chosen = tf.gather_nd(params=self.q, indices=a_indices)
        with tf.variable_scope("loss"):
            self.td_error = target - chosen
            self.loss = tf.losses.huber_loss(target, chosen)
        with tf.variable_scope("train"):
            optimizer = tf.train.RMSPropOptimizer(self.args.learning_rate)
            grads_and_vars = optimizer.compute_gradients(
                self.loss, var_list=tf.get_collection("eval_params"))
            clipped = [(tf.clip_by_norm(g, 10.0), v) for g, v in grads_and_vars if g is not None]
            self.train_op = optimizer.apply_gradients(clipped, global_step=self.global_step)

    def choose_action(self, observation, epsilon):
        if random.random() < epsilon:
            return random.randrange(self.n_actions)
        q = self.q.eval(feed_dict={self.state: observation[np.newaxis, :]}, session=self.sess)
        return int(np.argmax(q))

    def learn(self):
        batch = random.sample(list(self.replay_buffer), self.args.batch_size)
        s, a, r, s_, done = map(np.array, zip(*batch))
        step = self.sess.run(self.global_step)
        if step % self.args.replace_every == 0:
            self.sess.run(self.replace)
        else:
            self.sess.run(self.soft)
        _, loss, error = self.sess.run(
            [self.train_op, self.loss, self.td_error],
            feed_dict={self.state: s, self.action: a, self.reward: r, self.next_state: s_,
                       self.done: done.astype(np.float32)})
        return step, loss, np.abs(error).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=12)
    parser.add_argument("--memory", type=int, default=500)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--gamma", type=float, default=0.9)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--replace_every", type=int, default=20)
    args = parser.parse_args()

    random.seed(4)
    env = CartPole(seed=2)
    with tf.Session() as sess:
        agent = DQN(sess, args)
        sess.run(tf.global_variables_initializer())
        print(sorted(agent.sess.graph.get_all_collection_keys()))
        epsilon = 0.9
        for episode in range(args.episodes):
            state, total, done = env.reset(), 0.0, False
            while not done:
                action = agent.choose_action(state, epsilon)
                next_state, reward, done = env.step(action)
                reward = reward - abs(next_state[2]) * 2 - (5.0 if done else 0.0)
                agent.replay_buffer.append((state, action, reward, next_state, done))
                total += reward
                state = next_state
                if len(agent.replay_buffer) > args.batch_size and env.count % 2 == 0:
                    step, loss, error = agent.learn()
                    if step % 10 == 0:
                        print("step %d loss %.5f error %.5f" % (step, loss, error))
            epsilon = max(0.05, epsilon * 0.8)
            print("episode %d steps %d reward %.4f" % (episode, env.count, total))
        print("q", " ".join("%.4f" % q for q in sess.run(
            agent.q, {agent.state: np.eye(4)}).flatten()))


if __name__ == "__main__":
    main()
