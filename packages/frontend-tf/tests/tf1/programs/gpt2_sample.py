"""A GPT-2 that samples with a while loop: top-k logits, keys and values of the past kept."""

import argparse

import numpy as np
import tensorflow as tf

from tensorflow.contrib.training import HParams


def default_hparams():
    return HParams(n_vocab=40, n_ctx=32, n_embd=24, n_head=3, n_layer=2)


def shape_list(x):
    """The static dimensions of x where they are known, tensors where they are not."""
    static = x.shape.as_list()
    dynamic = tf.shape(x)
    return [dynamic[i] if s is None else s for i, s in enumerate(static)]


def softmax(x, axis=-1):
    x = x - tf.reduce_max(x, axis=axis, keepdims=True)
    ex = tf.exp(x)
    return ex / tf.reduce_sum(ex, axis=axis, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))


def norm(x, scope, axis=-1, epsilon=1e-5):
    """Mean 0, square deviation 1, then a diagonal affine transform."""
    with tf.variable_scope(scope):
        n_state = x.shape[-1].value
        g = tf.get_variable("g", [n_state], initializer=tf.constant_initializer(1))
        b = tf.get_variable("b", [n_state], initializer=tf.constant_initializer(0))
        u = tf.reduce_mean(x, axis=axis, keepdims=True)
        s = tf.reduce_mean(tf.square(x - u), axis=axis, keepdims=True)
        x = (x - u) * tf.rsqrt(s + epsilon)
        return x * g + b


def conv1d(x, scope, nf, w_init_stdev=0.02):
    with tf.variable_scope(scope):
        *start, nx = shape_list(x)
        w = tf.get_variable("w", [1, nx, nf],
                            initializer=tf.random_normal_initializer(stddev=w_init_stdev))
        b = tf.get_variable("b", [nf], initializer=tf.constant_initializer(0))
        flat = tf.matmul(tf.reshape(x, [-1, nx]), tf.reshape(w, [-1, nf])) + b
        return tf.reshape(flat, start + [nf])


def attention_mask(nd, ns, dtype):
    """Ones in the lower triangle, counted from the lower right corner: [nd, ns]."""
    i = tf.range(nd)[:, None]
    j = tf.range(ns)
    return tf.cast(i >= j - ns + nd, dtype)


def attn(x, scope, n_state, past, hparams):
    """x: [batch, sequence, features]; past: [batch, 2, heads, sequence, features] or None."""

    def split_heads(x):
        *start, m = shape_list(x)
        return tf.transpose(
            tf.reshape(x, start + [hparams.n_head, m // hparams.n_head]), [0, 2, 1, 3])

    def merge_heads(x):
        *start, a, b = shape_list(tf.transpose(x, [0, 2, 1, 3]))
        return tf.reshape(tf.transpose(x, [0, 2, 1, 3]), start + [a * b])

    def weigh(q, k, v):
        w = tf.matmul(q, k, transpose_b=True) * tf.rsqrt(tf.cast(v.shape[-1].value, q.dtype))
        _, _, nd, ns = shape_list(w)
        b = tf.reshape(attention_mask(nd, ns, dtype=w.dtype), [1, 1, nd, ns])
        return tf.matmul(softmax(w * b - tf.cast(1e10, w.dtype) * (1 - b)), v)

    with tf.variable_scope(scope):
        c = conv1d(x, "c_attn", n_state * 3)
        q, k, v = map(split_heads, tf.split(c, 3, axis=2))
        present = tf.stack([k, v], axis=1)
        if past is not None:
            pk, pv = tf.unstack(past, axis=1)
            k = tf.concat([pk, k], axis=-2)
            v = tf.concat([pv, v], axis=-2)
        return conv1d(merge_heads(weigh(q, k, v)), "c_proj", n_state), present


def block(x, scope, past, hparams):
    with tf.variable_scope(scope):
        nx = x.shape[-1].value
        a, present = attn(norm(x, "ln_1"), "attn", nx, past=past, hparams=hparams)
        x = x + a
        with tf.variable_scope("mlp"):
            h = gelu(conv1d(norm(x, "ln_2"), "c_fc", nx * 4))
            return x + conv1d(h, "c_proj", nx), present


def model(hparams, X, past=None, scope="model", reuse=tf.AUTO_REUSE):
    with tf.variable_scope(scope, reuse=reuse):
        batch, sequence = shape_list(X)
        wpe = tf.get_variable("wpe", [hparams.n_ctx, hparams.n_embd],
                              initializer=tf.random_normal_initializer(stddev=0.01))
        wte = tf.get_variable("wte", [hparams.n_vocab, hparams.n_embd],
                              initializer=tf.random_normal_initializer(stddev=0.02))
        past_length = 0 if past is None else tf.shape(past)[-2]
        positions = tf.tile(tf.expand_dims(past_length + tf.range(sequence), 0), [batch, 1])
        h = tf.gather(wte, X) + tf.gather(wpe, positions)

        presents = []
        pasts = tf.unstack(past, axis=1) if past is not None else [None] * hparams.n_layer
        for layer, past in enumerate(pasts):
            h, present = block(h, "h%d" % layer, past=past, hparams=hparams)
            presents.append(present)
        h = norm(h, "ln_f")
        logits = tf.matmul(tf.reshape(h, [batch * sequence, hparams.n_embd]), wte, transpose_b=True)
        return {"present": tf.stack(presents, axis=1),
                "logits": tf.reshape(logits, [batch, sequence, hparams.n_vocab])}


def past_shape(hparams, batch_size=None, sequence=None):
    return [batch_size, hparams.n_layer, 2, hparams.n_head, sequence,
            hparams.n_embd // hparams.n_head]


def top_k_logits(logits, k):
    def _top_k():
        values, _ = tf.nn.top_k(logits, k=k)
        min_values = values[:, -1, tf.newaxis]
        return tf.where(logits < min_values, tf.ones_like(logits, dtype=logits.dtype) * -1e10, logits)

    return tf.cond(tf.equal(k, 0), lambda: logits, lambda: _top_k())


def sample_sequence(hparams, length, context, uniforms, temperature, top_k):
    """context: [batch, n]; uniforms: [batch, length], what the draws are made of; all tokens."""
    def step(tokens, past=None):
        lm_output = model(hparams=hparams, X=tokens, past=past, reuse=tf.AUTO_REUSE)
        logits = lm_output["logits"][:, :, :hparams.n_vocab]
        presents = lm_output["present"]
        presents.set_shape(past_shape(hparams=hparams, batch_size=context.shape[0].value))
        return {"logits": logits, "presents": presents}

    def draw(logits, number):
        """Where the running sum of probabilities passes the next uniform number."""
        if uniforms is None:
            return tf.multinomial(logits, num_samples=1, output_dtype=tf.int32)
        below = tf.cumsum(tf.nn.softmax(logits), axis=1) < uniforms[:, number, tf.newaxis]
        return tf.reduce_sum(tf.cast(below, tf.int32), axis=1, keepdims=True)

    def body(past, prev, output, number):
        next_outputs = step(prev[:, tf.newaxis], past=past)
        logits = next_outputs["logits"][:, -1, :] / tf.to_float(temperature)
        logits = top_k_logits(logits, k=top_k)
        samples = draw(logits, number)
        return [tf.concat([past, next_outputs["presents"]], axis=-2),
                tf.squeeze(samples, axis=[1]), tf.concat([output, samples], axis=1), number + 1]

    with tf.name_scope("sample_sequence"):
        # All but the last token: the while loop starts with that one.
        context_output = step(context[:, :-1])
        _, _, tokens, _ = tf.while_loop(
            cond=lambda *_: True, body=body,
            loop_vars=[context_output["presents"], context[:, -1], context, tf.constant(0)],
            maximum_iterations=length,
            shape_invariants=[
                tf.TensorShape(past_shape(hparams=hparams, batch_size=context.shape[0].value)),
                tf.TensorShape([None]), tf.TensorShape([None, None]), tf.TensorShape([])],
            back_prop=False)
        return tokens


def main():
    parser = argparse.ArgumentParser(description="Sample tokens from a random GPT-2.")
    parser.add_argument("--batch_size", type=int, default=2)
    parser.add_argument("--length", type=int, default=12)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--top_k", type=int, default=8)
    parser.add_argument("--seed", type=int, default=31)
    args = parser.parse_args()

    hparams = default_hparams()
    hparams.override_from_dict({"n_ctx": 24})
    rng = np.random.RandomState(args.seed)
    with tf.Session(graph=tf.Graph()) as sess:
        context = tf.placeholder(tf.int32, [args.batch_size, None])
        uniforms = tf.placeholder(tf.float32, [args.batch_size, args.length])
        output = sample_sequence(hparams, args.length, context, uniforms, args.temperature, args.top_k)
        scores = model(hparams, output)["logits"]
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=output[:, 1:], logits=scores[:, :-1]))
        train_vars = [v for v in tf.trainable_variables() if "model" in v.name]
        train = tf.train.AdamOptimizer(0.01).minimize(loss, var_list=train_vars)
        sess.run(tf.global_variables_initializer())
        print("%d variables, %d numbers" % (
            len(train_vars), sum(np.prod(v.shape.as_list()) for v in train_vars)))
        for var in train_vars:
            var.load(rng.normal(0, 0.3, var.shape.as_list()) + var.op.name.endswith("/g"), sess)

        for i in range(3):
            feed = {context: rng.randint(hparams.n_vocab, size=(args.batch_size, 3 + i)),
                    uniforms: rng.uniform(size=(args.batch_size, args.length))}
            out, value, _ = sess.run([output, loss, train], feed_dict=feed)
            print("=" * 20 + " SAMPLE %d, loss %.4f" % (i, value))
            for row in out:
                print(" ".join(map(str, row)))
        last = sess.run(scores, {output: out})[0, -1]
        print("last logits %s" % " ".join("%.4f" % v for v in last[:8]))


if __name__ == "__main__":
    main()
