"""A small BERT: masked words and next sentences, trained by an optimizer of the program's own."""

from __future__ import absolute_import, division, print_function

import collections
import copy
import json
import math
import re

import numpy as np
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_integer("train_batch_size", 8, "Total batch size for training.")
flags.DEFINE_integer("max_seq_length", 16, "Length of the input.")
flags.DEFINE_integer("max_predictions_per_seq", 3, "Masked words in a sequence.")
flags.DEFINE_float("learning_rate", 5e-3, "The initial learning rate for Adam.")
flags.DEFINE_integer("num_train_steps", 30, "Number of training steps.")
flags.DEFINE_integer("num_warmup_steps", 5, "Number of warmup steps.")
flags.DEFINE_bool("do_train", True, "Whether to run training.")


class BertConfig(object):
    """Configuration of a `BertModel`."""

    def __init__(self, vocab_size, hidden_size=24, num_hidden_layers=2, num_attention_heads=4,
                 intermediate_size=48, hidden_act="gelu", hidden_dropout_prob=0.0,
                 max_position_embeddings=32, type_vocab_size=2, initializer_range=0.2):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_act = hidden_act
        self.hidden_dropout_prob = hidden_dropout_prob
        self.max_position_embeddings = max_position_embeddings
        self.type_vocab_size = type_vocab_size
        self.initializer_range = initializer_range

    @classmethod
    def from_dict(cls, json_object):
        config = BertConfig(vocab_size=None)
        for (key, value) in json_object.items():
            config.__dict__[key] = value
        return config

    def to_dict(self):
        return copy.deepcopy(self.__dict__)


def gelu(x):
    cdf = 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0)))
    return x * cdf


def get_shape_list(tensor, expected_rank=None, name=None):
    """Static dimensions, and tensors for those that are not known."""
    if name is None:
        name = tensor.name
    if expected_rank is not None and tensor.shape.ndims != expected_rank:
        raise ValueError("For the tensor `%s` the rank `%d` is not `%s`"
                         % (name, tensor.shape.ndims, str(expected_rank)))
    shape = tensor.shape.as_list()
    non_static_indexes = [index for (index, dim) in enumerate(shape) if dim is None]
    if not non_static_indexes:
        return shape
    dyn_shape = tf.shape(tensor)
    for index in non_static_indexes:
        shape[index] = dyn_shape[index]
    return shape


def create_initializer(initializer_range=0.02):
    return tf.truncated_normal_initializer(stddev=initializer_range)


def dropout(input_tensor, dropout_prob):
    if dropout_prob is None or dropout_prob == 0.0:
        return input_tensor
    return tf.nn.dropout(input_tensor, 1.0 - dropout_prob)


def layer_norm(input_tensor, name=None):
    return tf.contrib.layers.layer_norm(
        inputs=input_tensor, begin_norm_axis=-1, begin_params_axis=-1, scope=name)


def layer_norm_and_dropout(input_tensor, dropout_prob, name=None):
    return dropout(layer_norm(input_tensor, name), dropout_prob)


class BertModel(object):
    def __init__(self, config, input_ids, input_mask, token_type_ids, scope=None):
        batch_size, seq_length = get_shape_list(input_ids, expected_rank=2)
        init = create_initializer(config.initializer_range)
        with tf.variable_scope(scope, default_name="bert"):
            with tf.variable_scope("embeddings"):
                self.embedding_table = tf.get_variable(
                    name="word_embeddings", shape=[config.vocab_size, config.hidden_size],
                    initializer=init)
                words = tf.gather(self.embedding_table, tf.reshape(input_ids, [-1]))
                output = tf.reshape(words, [batch_size, seq_length, config.hidden_size])
                types = tf.get_variable(
                    "token_type_embeddings", [config.type_vocab_size, config.hidden_size],
                    initializer=init)
                one_hot_ids = tf.one_hot(tf.reshape(token_type_ids, [-1]), depth=config.type_vocab_size)
                output += tf.reshape(tf.matmul(one_hot_ids, types),
                                     [batch_size, seq_length, config.hidden_size])
                assert_op = tf.assert_less_equal(seq_length, config.max_position_embeddings)
                with tf.control_dependencies([assert_op]):
                    full = tf.get_variable(
                        "position_embeddings",
                        [config.max_position_embeddings, config.hidden_size], initializer=init)
                    positions = tf.slice(full, [0, 0], [seq_length, -1])
                    output += tf.reshape(positions, [1, seq_length, config.hidden_size])
                output = layer_norm_and_dropout(output, config.hidden_dropout_prob)
            with tf.variable_scope("encoder"):
                to_mask = tf.cast(tf.reshape(input_mask, [batch_size, 1, seq_length]), tf.float32)
                ones = tf.ones(shape=[batch_size, seq_length, 1], dtype=tf.float32)
                mask = tf.expand_dims(ones * to_mask, axis=[1])
                for layer in range(config.num_hidden_layers):
                    with tf.variable_scope("layer_%d" % layer):
                        output = transformer_layer(config, output, mask, init)
            self.sequence_output = output
            with tf.variable_scope("pooler"):
                first = tf.squeeze(self.sequence_output[:, 0:1, :], axis=1)
                self.pooled_output = tf.layers.dense(
                    first, config.hidden_size, activation=tf.tanh, kernel_initializer=init)


def transformer_layer(config, layer_input, mask, init):
    """layer_input: [batch, sequence, hidden]; mask: [batch, 1, sequence, sequence], 1 where seen."""
    batch_size, seq_length, width = get_shape_list(layer_input, expected_rank=3)
    heads = config.num_attention_heads
    size = width // heads

    def project(name):
        out = tf.layers.dense(layer_input, width, name=name, kernel_initializer=init)
        return tf.transpose(tf.reshape(out, [batch_size, seq_length, heads, size]), [0, 2, 1, 3])

    with tf.variable_scope("attention"):
        with tf.variable_scope("self"):
            query, key, value = project("query"), project("key"), project("value")
            scores = tf.matmul(query, key, transpose_b=True)
            scores = tf.multiply(scores, 1.0 / math.sqrt(float(size)))
            scores += (1.0 - mask) * -10000.0
            probs = dropout(tf.nn.softmax(scores), config.hidden_dropout_prob)
            context = tf.transpose(tf.matmul(probs, value), [0, 2, 1, 3])
            context = tf.reshape(context, [batch_size, seq_length, width])
        with tf.variable_scope("output"):
            attended = tf.layers.dense(context, width, kernel_initializer=init)
            attended = layer_norm(attended + layer_input)
    with tf.variable_scope("intermediate"):
        middle = tf.layers.dense(attended, config.intermediate_size, activation=gelu,
                                 kernel_initializer=init)
    with tf.variable_scope("output"):
        output = tf.layers.dense(middle, width, kernel_initializer=init)
        return layer_norm(dropout(output, config.hidden_dropout_prob) + attended)


def gather_indexes(sequence_tensor, positions):
    """Gathers the vectors at the specific positions over a minibatch."""
    batch_size, seq_length, width = get_shape_list(sequence_tensor, expected_rank=3)
    flat_offsets = tf.reshape(tf.range(0, batch_size, dtype=tf.int32) * seq_length, [-1, 1])
    flat_positions = tf.reshape(positions + flat_offsets, [-1])
    return tf.gather(tf.reshape(sequence_tensor, [batch_size * seq_length, width]), flat_positions)


def get_masked_lm_output(config, model, positions, label_ids, label_weights):
    input_tensor = gather_indexes(model.sequence_output, positions)
    with tf.variable_scope("cls/predictions"):
        with tf.variable_scope("transform"):
            input_tensor = tf.layers.dense(
                input_tensor, units=config.hidden_size, activation=gelu,
                kernel_initializer=create_initializer(config.initializer_range))
            input_tensor = layer_norm(input_tensor)
        output_bias = tf.get_variable(
            "output_bias", shape=[config.vocab_size], initializer=tf.zeros_initializer())
        logits = tf.matmul(input_tensor, model.embedding_table, transpose_b=True)
        log_probs = tf.nn.log_softmax(tf.nn.bias_add(logits, output_bias), axis=-1)
        label_ids = tf.reshape(label_ids, [-1])
        label_weights = tf.reshape(label_weights, [-1])
        one_hot_labels = tf.one_hot(label_ids, depth=config.vocab_size, dtype=tf.float32)
        per_example_loss = -tf.reduce_sum(log_probs * one_hot_labels, axis=[-1])
        numerator = tf.reduce_sum(label_weights * per_example_loss)
        return numerator / (tf.reduce_sum(label_weights) + 1e-5), log_probs


def get_next_sentence_output(config, model, labels):
    with tf.variable_scope("cls/seq_relationship"):
        output_weights = tf.get_variable(
            "output_weights", [2, config.hidden_size],
            initializer=create_initializer(config.initializer_range))
        output_bias = tf.get_variable("output_bias", [2], initializer=tf.zeros_initializer())
        logits = tf.nn.bias_add(
            tf.matmul(model.pooled_output, output_weights, transpose_b=True), output_bias)
        log_probs = tf.nn.log_softmax(logits, axis=-1)
        one_hot_labels = tf.one_hot(tf.reshape(labels, [-1]), depth=2, dtype=tf.float32)
        return tf.reduce_mean(-tf.reduce_sum(one_hot_labels * log_probs, axis=-1)), log_probs


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """Adam whose weight decay does not go through its moments."""

    def __init__(self, learning_rate, weight_decay_rate=0.0, beta_1=0.9, beta_2=0.999,
                 epsilon=1e-6, exclude_from_weight_decay=None, name="AdamWeightDecayOptimizer"):
        super(AdamWeightDecayOptimizer, self).__init__(False, name)
        self.learning_rate = learning_rate
        self.weight_decay_rate = weight_decay_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.exclude_from_weight_decay = exclude_from_weight_decay

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for (grad, param) in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = self._get_variable_name(param.name)
            m = tf.get_variable(name=param_name + "/adam_m", shape=param.shape.as_list(),
                                dtype=tf.float32, trainable=False, initializer=tf.zeros_initializer())
            v = tf.get_variable(name=param_name + "/adam_v", shape=param.shape.as_list(),
                                dtype=tf.float32, trainable=False, initializer=tf.zeros_initializer())
            next_m = tf.multiply(self.beta_1, m) + tf.multiply(1.0 - self.beta_1, grad)
            next_v = tf.multiply(self.beta_2, v) + tf.multiply(1.0 - self.beta_2, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + self.epsilon)
            if self._do_use_weight_decay(param_name):
                update += self.weight_decay_rate * param
            next_param = param - self.learning_rate * update
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        return tf.group(*assignments, name=name)

    def _do_use_weight_decay(self, param_name):
        if not self.weight_decay_rate:
            return False
        if self.exclude_from_weight_decay:
            for r in self.exclude_from_weight_decay:
                if re.search(r, param_name) is not None:
                    return False
        return True

    def _get_variable_name(self, param_name):
        m = re.match("^(.*):\\d+$", param_name)
        if m is not None:
            param_name = m.group(1)
        return param_name


def create_optimizer(loss, init_lr, num_train_steps, num_warmup_steps):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.constant(value=init_lr, shape=[], dtype=tf.float32)
    learning_rate = tf.train.polynomial_decay(
        learning_rate, global_step, num_train_steps, end_learning_rate=0.0, power=1.0, cycle=False)
    if num_warmup_steps:
        global_steps_int = tf.cast(global_step, tf.int32)
        warmup_steps_int = tf.constant(num_warmup_steps, dtype=tf.int32)
        warmup_percent_done = tf.cast(global_steps_int, tf.float32) / tf.cast(
            warmup_steps_int, tf.float32)
        warmup_learning_rate = init_lr * warmup_percent_done
        is_warmup = tf.cast(global_steps_int < warmup_steps_int, tf.float32)
        learning_rate = (1.0 - is_warmup) * learning_rate + is_warmup * warmup_learning_rate
    optimizer = AdamWeightDecayOptimizer(
        learning_rate=learning_rate, weight_decay_rate=0.01,
        exclude_from_weight_decay=["LayerNorm", "layer_norm", "bias"])
    tvars = tf.trainable_variables()
    grads = tf.gradients(loss, tvars)
    (grads, norm) = tf.clip_by_global_norm(grads, clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
    with tf.control_dependencies([train_op]):  # the rate above is that of this step
        new_global_step = global_step + 1
    return tf.group(train_op, [global_step.assign(new_global_step)]), learning_rate, norm


def make_features(rng, config):
    """Sentences that count upwards, the second from where the first ends or from anywhere."""
    n, length, masked = FLAGS.train_batch_size, FLAGS.max_seq_length, FLAGS.max_predictions_per_seq
    half = length // 2
    follows = rng.randint(0, 2, size=n)
    start = rng.randint(0, 30, size=n)
    second = np.where(follows == 1, start + half, rng.randint(0, 30, size=n))
    words = np.concatenate([start[:, None] + np.arange(half), second[:, None] + np.arange(half)], 1)
    ids = 4 + words % (config.vocab_size - 4)
    lengths = rng.randint(length - 3, length + 1, size=n)
    mask = (np.arange(length) < lengths[:, None]).astype(np.int32)
    positions = np.stack([rng.choice(length - 4, masked, replace=False) for _ in range(n)])
    labels = np.take_along_axis(ids, positions, axis=1)
    np.put_along_axis(ids, positions, 3, axis=1)
    segments = np.repeat([[0] * half + [1] * half], n, axis=0)
    return collections.OrderedDict([
        ("input_ids", ids * mask), ("input_mask", mask), ("segment_ids", segments),
        ("masked_lm_positions", positions), ("masked_lm_ids", labels),
        ("masked_lm_weights", np.ones((n, masked))), ("next_sentence_labels", follows[:, None])])


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    config = BertConfig.from_dict(json.loads('{"vocab_size": 34, "num_attention_heads": 3}'))
    rng = np.random.RandomState(77)
    example = make_features(rng, config)
    features = {}
    for key, value in example.items():
        dtype = tf.float32 if key.endswith("weights") else tf.int32
        features[key] = tf.placeholder(dtype, [None, value.shape[1]], name=key)

    model = BertModel(config, features["input_ids"], features["input_mask"], features["segment_ids"])
    masked_lm_loss, log_probs = get_masked_lm_output(
        config, model, features["masked_lm_positions"], features["masked_lm_ids"],
        features["masked_lm_weights"])
    next_sentence_loss, _ = get_next_sentence_output(config, model, features["next_sentence_labels"])
    total_loss = masked_lm_loss + next_sentence_loss
    train_op, learning_rate, norm = create_optimizer(
        total_loss, FLAGS.learning_rate, FLAGS.num_train_steps, FLAGS.num_warmup_steps)
    predictions = tf.argmax(log_probs, axis=-1, output_type=tf.int32)
    accuracy, update_accuracy = tf.metrics.accuracy(
        labels=tf.reshape(features["masked_lm_ids"], [-1]), predictions=predictions)

    for var in tf.trainable_variables():
        print("name = %s, shape = %s" % (var.name, var.shape))
    if not FLAGS.do_train:
        raise ValueError("`do_train` must be True.")
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for var in tf.trainable_variables():
            if not re.search("bias|beta|gamma", var.name):
                var.load(rng.normal(0, 0.2, var.shape.as_list()), sess)
        for step in range(FLAGS.num_train_steps):
            feed = {features[k]: v for k, v in make_features(rng, config).items()}
            lr = sess.run(learning_rate)
            _, loss, lm, ns, size, _ = sess.run(
                [train_op, total_loss, masked_lm_loss, next_sentence_loss, norm, update_accuracy],
                feed_dict=feed)
            if step % 3 == 0:
                print("step %d lr %.6f loss %.4f masked_lm %.4f next_sentence %.4f norm %.4f"
                      % (step, lr, loss, lm, ns, size))
        print("masked accuracy while training %.4f" % sess.run(accuracy))
        print("global step %d" % sess.run(tf.train.get_global_step()))


if __name__ == "__main__":
    tf.app.run()
