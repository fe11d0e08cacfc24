"""The embedding projector of TensorBoard: `projector_config.proto`."""

from byparts_tf_files.fields import many, one
from byparts_tf_files.message import Message


class SpriteMetadata(Message):
    image_path = one(1, "string")
    single_image_dim = many(2, "uint32")


class EmbeddingInfo(Message):
    tensor_name = one(1, "string")
    metadata_path = one(2, "string")
    bookmarks_path = one(3, "string")
    tensor_shape = many(4, "uint32")
    sprite = one(5, SpriteMetadata)
    tensor_path = one(6, "string")


class ProjectorConfig(Message):
    model_checkpoint_path = one(1, "string")
    embeddings = many(2, EmbeddingInfo)
    model_checkpoint_dir = one(3, "string")
