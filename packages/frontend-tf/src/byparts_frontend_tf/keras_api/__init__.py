"""`tf.keras` of TensorFlow 1.15 in graph mode, on the functions of `api/` and the session.

The folder is not named `keras`: that is the namespace of the API (`symbols.py`).
"""
