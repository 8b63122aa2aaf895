"""Caffe's messages as classes of Google's protobuf library, under their name in release 7."""
