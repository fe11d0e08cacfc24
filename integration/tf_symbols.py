"""Write the table of TensorFlow's symbols: `python integration/tf_symbols.py`."""

from pathlib import Path

import byparts_frontend_tf
from byparts_frontend_tf.symbols import table_text

TABLE = Path(byparts_frontend_tf.__file__).with_name("symbol_table.py")

if __name__ == "__main__":
    TABLE.write_text(table_text(), encoding="utf-8")
