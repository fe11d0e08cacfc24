"""Skip-grams with noise-contrastive estimation, from a small made-up language."""

from __future__ import absolute_import, division, print_function

import collections
import math

import numpy as np
import tensorflow as tf

batch_size = 32
embedding_size = 16  # Dimension of the embedding vector.
skip_window = 2  # How many words to consider left and right.
num_skips = 2  # How many times to reuse an input to generate a label.
num_sampled = 12  # Number of negative examples to sample.
vocabulary_size = 60
num_steps = 101

rng = np.random.RandomState(23)
data_index = 0


def make_words(count):
    """Sentences of words w0, w1, ...: a word is followed by one of its own few neighbours."""
    words, current = [], 0
    for _ in range(count):
        words.append("w%d" % current)
        current = int((current + rng.choice([1, 2, 3, 58])) % 80)
    return words


def build_dataset(words, n_words):
    """Process raw inputs into a dataset: numbers by frequency, the rare ones are UNK, 0."""
    count = [["UNK", -1]]
    count.extend(collections.Counter(words).most_common(n_words - 1))
    dictionary = {}
    for word, _ in count:
        dictionary[word] = len(dictionary)
    data = [dictionary.get(word, 0) for word in words]
    count[0][1] = data.count(0)
    return data, count, dictionary, dict(zip(dictionary.values(), dictionary.keys()))


def generate_batch(data):
    global data_index
    assert batch_size % num_skips == 0
    batch = np.ndarray(shape=(batch_size), dtype=np.int32)
    labels = np.ndarray(shape=(batch_size, 1), dtype=np.int32)
    span = 2 * skip_window + 1  # [ skip_window target skip_window ]
    buffer = collections.deque(maxlen=span)
    if data_index + span > len(data):
        data_index = 0
    buffer.extend(data[data_index:data_index + span])
    data_index += span
    for i in range(batch_size // num_skips):
        context_words = [w for w in range(span) if w != skip_window]
        words_to_use = rng.choice(context_words, num_skips, replace=False)
        for j, context_word in enumerate(words_to_use):
            batch[i * num_skips + j] = buffer[skip_window]
            labels[i * num_skips + j, 0] = buffer[context_word]
        if data_index == len(data):
            buffer.extend(data[0:span])
            data_index = span
        else:
            buffer.append(data[data_index])
            data_index += 1
    data_index = (data_index + len(data) - span) % len(data)
    return batch, labels


def draw_candidates():
    """Distinct candidates [num_sampled] by a log-uniform law, as the default sampler's."""
    ids = np.arange(vocabulary_size)
    probability = np.log((ids + 2.0) / (ids + 1.0)) / np.log(vocabulary_size + 1.0)
    return rng.choice(vocabulary_size, num_sampled, replace=False, p=probability / probability.sum())


def expected_count(ids):
    """How often each id [n] is expected among the candidates; a tensor [n]."""
    ids = tf.cast(ids, tf.float32)
    probability = (tf.log(ids + 2.0) - tf.log(ids + 1.0)) / math.log(vocabulary_size + 1.0)
    return -tf.expm1(num_sampled * tf.log1p(-probability))


vocabulary = make_words(4000)
data, count, dictionary, reverse_dictionary = build_dataset(vocabulary, vocabulary_size)
print("Most common words (+UNK)", count[:3])
print("Sample data", data[:10], [reverse_dictionary[i] for i in data[:10]])

graph = tf.Graph()
with graph.as_default():
    with tf.name_scope("inputs"):
        train_inputs = tf.placeholder(tf.int32, shape=[batch_size])
        train_labels = tf.placeholder(tf.int32, shape=[batch_size, 1])
        candidates = tf.placeholder(tf.int64, shape=[num_sampled])
        valid_dataset = tf.constant([1, 5, 9, 14], dtype=tf.int32)

    with tf.device("/cpu:0"):
        with tf.name_scope("embeddings"):
            embeddings = tf.Variable(
                rng.uniform(-1.0, 1.0, (vocabulary_size, embedding_size)).astype(np.float32))
            embed = tf.nn.embedding_lookup(embeddings, train_inputs)
        with tf.name_scope("weights"):
            start = rng.randn(vocabulary_size, embedding_size) / math.sqrt(embedding_size)
            nce_weights = tf.Variable(tf.constant(start, tf.float32))
        with tf.name_scope("biases"):
            nce_biases = tf.Variable(tf.zeros([vocabulary_size]))

    with tf.name_scope("loss"):
        labels64 = tf.cast(train_labels, tf.int64)
        sampled = (candidates, tf.reshape(expected_count(tf.reshape(labels64, [-1])), [-1, 1]),
                   expected_count(candidates))
        loss = tf.reduce_mean(tf.nn.nce_loss(
            weights=nce_weights, biases=nce_biases, labels=labels64, inputs=embed,
            num_sampled=num_sampled, num_classes=vocabulary_size, sampled_values=sampled))
    tf.summary.scalar("loss", loss)

    with tf.name_scope("optimizer"):
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        gradients = optimizer.compute_gradients(loss)
        kinds = [type(g).__name__ for g, _ in gradients]
        train = optimizer.apply_gradients(gradients)

    # Compute the cosine similarity between minibatch examples and all embeddings.
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
    normalized_embeddings = embeddings / norm
    valid_embeddings = tf.nn.embedding_lookup(normalized_embeddings, valid_dataset)
    similarity = tf.matmul(valid_embeddings, normalized_embeddings, transpose_b=True)
    nearest_value, nearest = tf.nn.top_k(similarity, k=4)
    merged = tf.summary.merge_all()
    init = tf.global_variables_initializer()
    saver = tf.train.Saver({"emb": embeddings, "w": nce_weights})

print("gradients:", kinds)
print("embeddings are", embeddings.name, "and", nce_weights.op.name, nce_biases.op.name)

with tf.Session(graph=graph) as session:
    init.run()
    average_loss = 0
    for step in range(num_steps):
        batch_inputs, batch_labels = generate_batch(data)
        feed_dict = {train_inputs: batch_inputs, train_labels: batch_labels,
                     candidates: draw_candidates()}
        _, summary, loss_val = session.run([train, merged, loss], feed_dict=feed_dict)
        average_loss += loss_val
        if step % 10 == 0:
            if step > 0:
                average_loss /= 10
            print("Average loss at step %d: %.5f" % (step, average_loss))
            average_loss = 0
    close, sim = session.run([nearest, nearest_value])
    for i, word in enumerate(session.run(valid_dataset)):
        print("Nearest to %s: %s" % (reverse_dictionary[word], ", ".join(
            "%s %.4f" % (reverse_dictionary[k], s) for k, s in zip(close[i][1:], sim[i][1:]))))
    final_embeddings = normalized_embeddings.eval()
print("final %s, first row sums to %.5f" % (final_embeddings.shape, final_embeddings[0].sum()))
