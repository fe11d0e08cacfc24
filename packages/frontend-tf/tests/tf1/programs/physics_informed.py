"""A network that obeys Burgers' equation: u_t + u u_x = nu u_xx, with nu found from data too."""

import time

import numpy as np
import tensorflow as tf

np.random.seed(1234)
tf.set_random_seed(1234)


class PhysicsInformedNN:
    # Initialize the class
    def __init__(self, X_u, u, X_f, layers, lb, ub):
        self.lb, self.ub = lb, ub
        self.x_u, self.t_u = X_u[:, 0:1], X_u[:, 1:2]
        self.x_f, self.t_f = X_f[:, 0:1], X_f[:, 1:2]
        self.u = u
        self.layers = layers

        # Initialize NNs
        self.weights, self.biases = self.initialize_NN(layers)
        self.lambda_1 = tf.Variable([0.0], dtype=tf.float32)
        self.lambda_2 = tf.Variable([-3.0], dtype=tf.float32)

        # tf placeholders and graph
        self.sess = tf.Session(config=tf.ConfigProto(
            allow_soft_placement=True, log_device_placement=False))
        self.x_u_tf = tf.placeholder(tf.float32, shape=[None, self.x_u.shape[1]])
        self.t_u_tf = tf.placeholder(tf.float32, shape=[None, self.t_u.shape[1]])
        self.u_tf = tf.placeholder(tf.float32, shape=[None, self.u.shape[1]])
        self.x_f_tf = tf.placeholder(tf.float32, shape=[None, self.x_f.shape[1]])
        self.t_f_tf = tf.placeholder(tf.float32, shape=[None, self.t_f.shape[1]])

        self.u_pred = self.net_u(self.x_u_tf, self.t_u_tf)
        self.f_pred = self.net_f(self.x_f_tf, self.t_f_tf)
        self.loss_u = tf.reduce_mean(tf.square(self.u_tf - self.u_pred))
        self.loss_f = tf.reduce_mean(tf.square(self.f_pred))
        self.loss = self.loss_u + self.loss_f

        self.optimizer_Adam = tf.train.AdamOptimizer(learning_rate=0.005)
        self.train_op_Adam = self.optimizer_Adam.minimize(self.loss)
        init = tf.global_variables_initializer()
        self.sess.run(init)

    def initialize_NN(self, layers):
        weights, biases = [], []
        for l in range(0, len(layers) - 1):
            W = self.xavier_init(size=[layers[l], layers[l + 1]])
            b = tf.Variable(tf.zeros([1, layers[l + 1]], dtype=tf.float32), dtype=tf.float32)
            weights.append(W)
            biases.append(b)
        return weights, biases

    def xavier_init(self, size):
        in_dim, out_dim = size
        xavier_stddev = np.sqrt(2 / (in_dim + out_dim))
        return tf.Variable(np.random.randn(in_dim, out_dim) * xavier_stddev, dtype=tf.float32)

    def neural_net(self, X, weights, biases):
        num_layers = len(weights) + 1
        H = 2.0 * (X - self.lb) / (self.ub - self.lb) - 1.0
        for l in range(0, num_layers - 2):
            H = tf.tanh(tf.add(tf.matmul(H, weights[l]), biases[l]))
        return tf.add(tf.matmul(H, weights[-1]), biases[-1])

    def net_u(self, x, t):
        return self.neural_net(tf.concat([x, t], 1), self.weights, self.biases)

    def net_f(self, x, t):
        lambda_1, lambda_2 = self.lambda_1, tf.exp(self.lambda_2)
        u = self.net_u(x, t)
        u_t = tf.gradients(u, t)[0]
        u_x = tf.gradients(u, x)[0]
        self.u_xx = tf.gradients(u_x, x)[0]
        return u_t + lambda_1 * u * u_x - lambda_2 * self.u_xx

    def train(self, nIter):
        tf_dict = {self.x_u_tf: self.x_u, self.t_u_tf: self.t_u, self.u_tf: self.u,
                   self.x_f_tf: self.x_f, self.t_f_tf: self.t_f}
        start_time = time.time()
        for it in range(nIter):
            self.sess.run(self.train_op_Adam, tf_dict)
            # Print
            if it % 10 == 0:
                elapsed = time.time() - start_time
                assert elapsed >= 0
                loss_value = self.sess.run(self.loss, tf_dict)
                loss_u, loss_f = self.sess.run([self.loss_u, self.loss_f], tf_dict)
                print("It: %d, Loss: %.4e, data: %.4e, equation: %.4e"
                      % (it, loss_value, loss_u, loss_f))
                print("l1: %.5f, l2: %.6f" % (
                    self.sess.run(self.lambda_1)[0], np.exp(self.sess.run(self.lambda_2)[0])))
                start_time = time.time()

    def predict(self, X_star):
        tf_dict = {self.x_u_tf: X_star[:, 0:1], self.t_u_tf: X_star[:, 1:2]}
        u_star = self.sess.run(self.u_pred, tf_dict)
        f_star, u_xx = self.sess.run(
            [self.f_pred, self.u_xx], {self.x_f_tf: X_star[:, 0:1], self.t_f_tf: X_star[:, 1:2]})
        return u_star, f_star, u_xx


def travelling_wave(x, t, nu=0.05):
    """A solution of Burgers' equation, smooth: u = (1 - tanh((x - t/2) / (4 nu))) / 2."""
    return 0.5 * (1.0 - np.tanh((x - 0.5 * t) / (4.0 * nu)))


if __name__ == "__main__":
    lb, ub = np.array([-1.0, 0.0]), np.array([1.0, 1.0])
    X_u_train = lb + (ub - lb) * np.random.rand(60, 2)
    u_train = travelling_wave(X_u_train[:, 0:1], X_u_train[:, 1:2])
    X_f_train = np.vstack((X_u_train, lb + (ub - lb) * np.random.rand(120, 2)))

    model = PhysicsInformedNN(X_u_train, u_train, X_f_train, [2, 16, 16, 1], lb, ub)
    model.train(61)
    X_star = np.stack(np.meshgrid(np.linspace(-0.5, 0.5, 3), [0.0, 0.5]), -1).reshape(-1, 2)
    u_pred, f_pred, u_xx_pred = model.predict(X_star)
    exact = travelling_wave(X_star[:, 0:1], X_star[:, 1:2])
    print("relative error %.4f" % (np.linalg.norm(exact - u_pred, 2) / np.linalg.norm(exact, 2)))
    print("u ", " ".join("%.3f" % v for v in u_pred[:, 0]))
    print("uxx", " ".join("%.2f" % v for v in u_xx_pred[:, 0]))
