#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering check must itself be able to fail: one planted breach per rule."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_layers as layers  # noqa: E402

APACHE = "// SPDX-License-Identifier: Apache-2.0\n"
GPL = "// SPDX-License-Identifier: GPL-3.0-or-later\n"


class Layers(unittest.TestCase):
    def breaches(self, name, text):
        return list(layers.check_file(name, text))

    def test_clean(self):
        self.assertEqual(self.breaches("core/merkle/tree.cpp", APACHE + '#include "core/base/bytes.h"\n#include <vector>\n'), [])
        self.assertEqual(self.breaches("ui/charts/plot.h", GPL + "#include <qcustomplot.h>\n#include <QWidget>\n"), [])
        self.assertEqual(self.breaches("core/engine/x.cpp", APACHE + '#include "cuda/arith/rounding.h"\n'), [])

    def test_each_rule(self):
        planted = [
            ("core/merkle/tree.cpp", APACHE + "#include <openssl/evp.h>\n", "openssl"),
            ("core/crypto/key.h", APACHE + "#include <openssl/evp.h>\n", ".cpp"),
            ("core/base/x.cpp", APACHE + '#include "core/format/order.h"\n', "core/format"),
            ("core/engine/x.cpp", APACHE + '#include "core/store/audit_store.h"\n', "core/store"),
            ("core/engine/x.cpp", APACHE + "#include <QString>\n", "QString"),
            ("core/audit/x.cpp", APACHE + "#include <sqlite3.h>\n", "sqlite3"),
            ("ui/pages/x.cpp", GPL + "#include <qcustomplot.h>\n", "qcustomplot"),
            ("ui/pages/x.cpp", GPL + '#include "core/tensor/tensor.h"\n', "core/tensor"),
            ("app/cli/x.cpp", APACHE + '#include "core/engine/trainer.h"\n', "core/engine"),
            ("app/cli/x.cpp", APACHE + '#include "core/format/detail/json.h"\n', "detail"),
            ("core/base/x.cpp", "#include <vector>\n", "SPDX"),
            ("ui/pages/x.cpp", APACHE, "GPL"),
            ("core/unknown/x.cpp", APACHE, "layering"),
            ("core/base/x.cpp", APACHE + '#include "../base/bytes.h"\n', "root"),
        ]
        for name, text, word in planted:
            with self.subTest(name=name, word=word):
                found = self.breaches(name, text)
                self.assertTrue(any(word in message for message in found), found)


if __name__ == "__main__":
    unittest.main()
