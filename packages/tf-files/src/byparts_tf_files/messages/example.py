"""Examples: `example.proto`, `feature.proto`."""

from byparts_tf_files.fields import many, mapped, one
from byparts_tf_files.message import Message


class BytesList(Message):
    value = many(1, "bytes")


class FloatList(Message):
    value = many(1, "float")


class Int64List(Message):
    value = many(1, "int64")


class Feature(Message):
    bytes_list = one(1, BytesList, oneof="kind")
    float_list = one(2, FloatList, oneof="kind")
    int64_list = one(3, Int64List, oneof="kind")


class Features(Message):
    feature = mapped(1, "string", Feature)


class FeatureList(Message):
    feature = many(1, Feature)


class FeatureLists(Message):
    feature_list = mapped(1, "string", FeatureList)


class Example(Message):
    features = one(1, Features)


class SequenceExample(Message):
    context = one(1, Features)
    feature_lists = one(2, FeatureLists)
