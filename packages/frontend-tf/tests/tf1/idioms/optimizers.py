"""Every optimizer of tf.train on one small problem; their slots and what they are called."""
import numpy as np
import tensorflow as tf

made = [
    ("gradient descent", lambda: tf.train.GradientDescentOptimizer(0.1)),
    ("momentum", lambda: tf.train.MomentumOptimizer(0.1, 0.9)),
    ("nesterov", lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)),
    ("adam", lambda: tf.train.AdamOptimizer(0.1)),
    ("adam, tensor", lambda: tf.train.AdamOptimizer(tf.constant(0.1), beta1=0.5, epsilon=1e-3)),
    ("adagrad", lambda: tf.train.AdagradOptimizer(0.1)),
    ("adadelta", lambda: tf.train.AdadeltaOptimizer(1.0, rho=0.9)),
    ("rmsprop", lambda: tf.train.RMSPropOptimizer(0.1)),
    ("rmsprop, all", lambda: tf.train.RMSPropOptimizer(0.1, 0.8, momentum=0.5, centered=True)),
    ("ftrl", lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01)),
    ("proximal", lambda: tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.1)),
    ("adagrad da", lambda: tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.1)),
]
x = np.array([[1.0, 2.0], [0.5, -1.0], [-2.0, 0.3]], np.float32)
t = np.array([[1.0], [0.0], [-1.0]], np.float32)
for name, make in made:
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=tf.constant([[0.5], [-0.5]]))
        b = tf.get_variable("b", initializer=0.1)
        loss = tf.losses.mean_squared_error(t, tf.matmul(x, w) + b)
        optimizer = make()
        train = optimizer.minimize(loss, name="train")
        sess.run(tf.global_variables_initializer())
        losses = []
        for _ in range(5):
            losses.append(sess.run(loss))
            sess.run(train)
        print("%-16s" % name, " ".join("%.6f" % v for v in losses), optimizer.get_slot_names(), train.type)
        print("   ", [v.op.name for v in tf.global_variables() if v not in (w, b)])
