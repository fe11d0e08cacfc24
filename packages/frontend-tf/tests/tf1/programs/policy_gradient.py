"""Policy gradients (REINFORCE) with a learned baseline; gradients gathered over episodes."""

import numpy as np
import tensorflow as tf

gamma = 0.97


class Corridor(object):
    """A walk of nine cells from the middle; the right end wins 1, the left end loses 1."""

    cells = 9

    def reset(self):
        self.position, self.count = self.cells // 2, 0
        return self.observe()

    def observe(self):
        seen = np.zeros(self.cells)
        seen[self.position] = 1.0
        return seen

    def step(self, action):
        self.position += {0: -1, 1: 0, 2: 1}[action]
        self.count += 1
        done = self.position in (0, self.cells - 1) or self.count == 25
        reward = {0: -1.0, self.cells - 1: 1.0}.get(self.position, -0.02)
        return self.observe(), reward, done


def discount_rewards(r):
    """The discounted sum of what is still to come, for each step."""
    discounted_r = np.zeros_like(r)
    running_add = 0
    for t in reversed(range(0, r.size)):
        running_add = running_add * gamma + r[t]
        discounted_r[t] = running_add
    return discounted_r


class Agent(object):
    def __init__(self, lr, s_size, a_size, h_size):
        init = tf.initializers.constant
        rng = np.random.RandomState(13)

        def weights(*shape):
            return init(rng.normal(scale=0.5, size=shape))

        self.state_in = tf.placeholder(shape=[None, s_size], dtype=tf.float32)
        with tf.variable_scope("policy"):
            hidden = tf.layers.dense(self.state_in, h_size, activation=tf.nn.relu, use_bias=False,
                                     kernel_initializer=weights(s_size, h_size))
            logits = tf.layers.dense(hidden, a_size, kernel_initializer=weights(h_size, a_size))
            self.output = tf.nn.softmax(logits)
            self.chosen_action = tf.argmax(self.output, 1)
        with tf.variable_scope("baseline"):
            hidden = tf.layers.dense(self.state_in, h_size, tf.tanh,
                                     kernel_initializer=weights(s_size, h_size), name="hidden")
            self.value = tf.squeeze(tf.layers.dense(
                hidden, 1, kernel_initializer=weights(h_size, 1), name="value"), axis=1)

        self.reward_holder = tf.placeholder(shape=[None], dtype=tf.float32)
        self.action_holder = tf.placeholder(shape=[None], dtype=tf.int32)
        self.advantage = tf.stop_gradient(self.reward_holder - self.value)

        # The probability of what was done: a gather from the flat output.
        self.indexes = tf.range(0, tf.shape(self.output)[0]) * tf.shape(self.output)[1] \
            + self.action_holder
        self.responsible_outputs = tf.gather(tf.reshape(self.output, [-1]), self.indexes)
        self.entropy = -tf.reduce_mean(
            tf.reduce_sum(self.output * tf.log(tf.clip_by_value(self.output, 1e-8, 1.0)), 1))
        self.loss = -tf.reduce_mean(tf.log(self.responsible_outputs) * self.advantage) \
            - 0.01 * self.entropy
        self.value_loss = tf.losses.mean_squared_error(self.reward_holder, self.value)

        tvars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="policy")
        self.gradient_holders = []
        for idx, var in enumerate(tvars):
            placeholder = tf.placeholder(tf.float32, name=str(idx) + "_holder")
            self.gradient_holders.append(placeholder)
        self.gradients = tf.gradients(self.loss, tvars)
        optimizer = tf.train.AdamOptimizer(learning_rate=lr)
        self.update_batch = optimizer.apply_gradients(zip(self.gradient_holders, tvars))
        self.fit_baseline = tf.train.MomentumOptimizer(0.05, momentum=0.9).minimize(
            self.value_loss, var_list=tf.trainable_variables("baseline"))
        self.tvars = tvars


def main():
    tf.reset_default_graph()
    np.random.seed(6)
    env = Corridor()
    myAgent = Agent(lr=2e-2, s_size=env.cells, a_size=3, h_size=8)
    total_episodes, update_frequency = 60, 4

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        total_reward = []
        gradBuffer = sess.run(myAgent.tvars)
        for ix, grad in enumerate(gradBuffer):
            gradBuffer[ix] = grad * 0
        for i in range(1, total_episodes + 1):
            s, done, ep_history = env.reset(), False, []
            while not done:
                a_dist = sess.run(myAgent.output, feed_dict={myAgent.state_in: [s]})
                u = np.random.rand()
                a = int(min((np.cumsum(a_dist[0]) < u).sum(), 2))
                s1, r, done = env.step(a)
                ep_history.append([s, a, r])
                s = s1
            states, actions, rewards = map(np.array, zip(*ep_history))
            feed_dict = {myAgent.reward_holder: discount_rewards(rewards),
                         myAgent.action_holder: actions, myAgent.state_in: np.vstack(states)}
            grads, loss, entropy, _, value_loss = sess.run(
                [myAgent.gradients, myAgent.loss, myAgent.entropy,
                 myAgent.fit_baseline, myAgent.value_loss], feed_dict=feed_dict)
            for idx, grad in enumerate(grads):
                gradBuffer[idx] += grad
            if i % update_frequency == 0:
                feed_dict = dict(zip(myAgent.gradient_holders, gradBuffer))
                sess.run(myAgent.update_batch, feed_dict=feed_dict)
                for ix, grad in enumerate(gradBuffer):
                    gradBuffer[ix] = grad * 0
            total_reward.append(rewards.sum())
            if i % 5 == 0:
                print("episode %d reward %.3f loss %.5f entropy %.5f value loss %.5f" % (
                    i, np.mean(total_reward[-10:]), loss, entropy, value_loss))
        best = myAgent.chosen_action.eval({myAgent.state_in: np.eye(env.cells)})
        print("policy", best.tolist())
        print("values", " ".join("%.4f" % v for v in sess.run(
            myAgent.value, {myAgent.state_in: np.eye(env.cells)})))


if __name__ == "__main__":
    main()
