import json
import os
import unittest

from trilho import is_cnpj, is_cpf, is_pix_key


class Documents(unittest.TestCase):
    def test_the_vectors_of_the_server(self) -> None:
        place = os.path.join(os.path.dirname(__file__), "..", "..", "test", "vectors", "pix-keys.json")
        with open(place, encoding="utf-8") as file:
            vectors = json.load(file)
        self.assertGreater(len(vectors), 50)
        for vector in vectors:
            key, kind, valid = vector["key"], vector["type"], vector["valid"]
            self.assertIs(is_pix_key(key), valid, f"{key!r}: {vector['why']}")
            self.assertIs(is_cpf(key), valid and kind == "cpf", key)
            self.assertIs(is_cnpj(key), valid and kind == "cnpj", key)

    def test_what_is_near_to_a_key_is_none(self) -> None:
        for key in [
            "529982247-25",
            "529.982.24725",
            "20.018.183.0001-80",
            "11987654321",
            "+55 (11 98765-4321",
            "+55  11987654321",
            "+551132654321",
            "+55１１987654321",
            "+5520987654321",
            "maria@localhost",
            "maria%x@example.com",
            "mari\u212a@example.com",
            f"{'X' * 66}@example.com",
            "123e4567-e89b-12d3-a456426655440000",
            "",
        ]:
            self.assertFalse(is_pix_key(key), key)
        for key in ["529.982.247-25", "12.abc.345/01de-35", "+55 (11) 9 8765-4321", "Maria@Example.COM.BR"]:
            self.assertTrue(is_pix_key(key), key)
            for blank in (" ", "\n", "\0", "\u00a0"):
                self.assertFalse(is_pix_key(key + blank), repr(key + blank))
                self.assertFalse(is_pix_key(blank + key), repr(blank + key))
        for wrong in (None, 52998224725, b"52998224725"):
            self.assertFalse(is_cpf(wrong) or is_cnpj(wrong) or is_pix_key(wrong))
