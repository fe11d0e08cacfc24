"""Images in and out, resizing, cropping; array functions of everyday preprocessing."""
import os
import tempfile

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(2)
image = tf.constant(rng.randint(0, 256, (5, 6, 3)), tf.uint8)
real = tf.image.convert_image_dtype(image, tf.float32)
png = tf.image.encode_png(image)
back = tf.image.decode_png(png, channels=3)
path = os.path.join(tempfile.mkdtemp(), "image.png")
write = tf.write_file(path, png)
read = tf.image.decode_image(tf.read_file(path))
batch = tf.stack([real, real * 0.5])
ops = [
    tf.image.resize_images(batch, [3, 4]), tf.image.resize_bilinear(batch, [7, 7], align_corners=True),
    tf.image.resize_nearest_neighbor(batch, [10, 3]), tf.image.resize_image_with_crop_or_pad(real, 3, 8),
    tf.image.central_crop(real, 0.5), tf.image.flip_left_right(real), tf.image.flip_up_down(batch),
    tf.image.rgb_to_grayscale(real), tf.image.grayscale_to_rgb(real[..., :1]), tf.image.per_image_standardization(real),
    tf.image.adjust_brightness(real, 0.1), tf.image.adjust_contrast(real, 2.0), tf.image.rot90(real),
    tf.image.crop_to_bounding_box(real, 1, 2, 3, 3), tf.image.pad_to_bounding_box(real, 1, 1, 8, 9),
    tf.image.transpose_image(real), tf.image.rgb_to_hsv(real), tf.image.total_variation(batch),
    tf.image.crop_and_resize(batch, [[0.1, 0.2, 0.9, 0.8]], [1], [2, 2]), tf.image.resize_area(batch, [2, 3])]
boxes = tf.constant([[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [0.5, 0.5, 0.6, 0.9]])
kept = tf.image.non_max_suppression(boxes, [0.6, 0.9, 0.3], 3, iou_threshold=0.5)
x = tf.constant([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
arrays = [
    tf.reverse(x, [1]), tf.pad(x, [[1, 0], [0, 2]], constant_values=-1.0), tf.pad(x, [[0, 0], [2, 1]], "REFLECT"),
    tf.cumsum(x, 1, exclusive=True, reverse=True), tf.cumprod(x, 0), tf.nn.top_k(x, 2).indices, tf.sort(x, direction="DESCENDING"),
    tf.reverse_sequence(x, [2, 3], seq_axis=1), tf.sequence_mask([1, 3], 4), tf.matrix_band_part(tf.ones([3, 3]), 0, 1),
    tf.diag([1.0, 2.0]), tf.matrix_diag_part(tf.ones([2, 2])), tf.space_to_depth(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2),
    tf.extract_image_patches(tf.reshape(tf.range(9.0), [1, 3, 3, 1]), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
    tf.scatter_nd([[1], [3], [1]], [1.0, 2.0, 3.0], [5]), tf.invert_permutation([2, 0, 1]), tf.meshgrid([1, 2], [3, 4])[0],
    tf.roll(x, 1, 1), tf.tensordot(x, x, [[1], [1]]), tf.einsum("ij,kj->ik", x, x), tf.bincount([1, 1, 3]), tf.histogram_fixed_width(x, [0.0, 10.0], 3),
    tf.confusion_matrix([0, 1, 1], [0, 1, 0]), tf.nn.in_top_k(x, [0, 1], 1), tf.bitcast(x, tf.int32), tf.setdiff1d([1, 2, 3], [2])[0],
    tf.nn.moments(x, [0])[1], tf.linspace(0.0, 1.0, 3), tf.norm(x, axis=1), tf.strided_slice(x, [0, 0], [2, 3], [1, 2])]
with tf.Session() as sess:
    print(np.array_equal(*sess.run([image, back])), sess.run(write), sess.run(read).shape, sess.run(kept).tolist())
    for op in ops:
        value = sess.run(op)
        print(value.dtype, list(value.shape), "%.5f %.5f" % (value.sum(), (value.ravel() * np.arange(value.size)).sum()))
    for op in arrays:
        print(np.round(sess.run(op).astype(float), 4).tolist())
