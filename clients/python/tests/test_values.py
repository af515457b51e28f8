import argparse
import math
import unittest
from fractions import Fraction

from forge.values import HPARAM_NAME_LIMIT, HPARAM_TEXT_LIMIT, hparams, scalars, to_scalar, to_step


class Tensor:
    """The part of PyTorch's tensor interface in use: `numel` and `item`."""

    def __init__(self, *elements):
        self.elements = elements

    def numel(self):
        return len(self.elements)

    def item(self):
        if len(self.elements) != 1:
            raise ValueError("only one element can be converted")
        return self.elements[0]


class Array(Tensor):
    """NumPy's name for the same number is `size`."""

    numel = None

    def __getattribute__(self, name):
        if name == "numel":
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    @property
    def size(self):
        return len(self.elements)


class FloatSubclass(float):
    def __repr__(self):
        return "np.float64(%s)" % float.__repr__(self)


class Scalars(unittest.TestCase):
    def test_nested_dictionaries_become_dotted_keys(self):
        kept, complaints = scalars({"a": {"b": 1, "c": {"d": 2.5}}, "e": 3})
        self.assertEqual(kept, [("a.b", 1), ("a.c.d", 2.5), ("e", 3)])
        self.assertEqual(complaints, [])

    def test_one_element_tensors_and_arrays_become_their_number(self):
        self.assertEqual(to_scalar(Tensor(0.5)), 0.5)
        self.assertEqual(to_scalar(Array(7)), 7)

    def test_larger_ones_are_refused_with_what_to_do(self):
        for value in (Tensor(1.0, 2.0), Array(1.0, 2.0), Tensor()):
            with self.assertRaisesRegex(TypeError, "mean"):
                to_scalar(value)

    def test_a_bool_is_refused_also_inside_a_tensor(self):
        for value in (True, False, Tensor(True)):
            with self.assertRaises(TypeError):
                to_scalar(value)

    def test_a_masked_number_is_refused_and_one_wider_than_a_double_is_rounded(self):
        class Masked(Array):
            mask = True

        with self.assertRaisesRegex(TypeError, "masked"):
            to_scalar(Masked(0.0))
        Masked.mask = False
        self.assertEqual(to_scalar(Masked(0.0)), 0.0)
        self.assertEqual(to_scalar(Array(Fraction(3, 2))), 1.5)

    def test_text_none_and_lists_are_refused(self):
        for value in ("0.5", b"1", None, [1.0], (1,), {1}, object()):
            with self.assertRaises(TypeError):
                to_scalar(value)

    def test_what_is_refused_does_not_take_the_rest_with_it(self):
        kept, complaints = scalars({"good": 1.0, "bad": "text", "also good": 2})
        self.assertEqual(kept, [("good", 1.0), ("also good", 2)])
        self.assertEqual(complaints, ["bad: str is not a number"])

    def test_subclasses_of_float_become_plain_floats(self):
        self.assertIs(type(to_scalar(FloatSubclass(0.5))), float)
        self.assertEqual(to_scalar(Fraction(1, 4)), 0.25)

    def test_nonfinite_numbers_pass(self):
        self.assertTrue(math.isnan(to_scalar(float("nan"))))
        self.assertEqual(to_scalar(Tensor(math.inf)), math.inf)

    def test_a_dictionary_that_contains_itself_ends(self):
        loop = {"x": 1}
        loop["self"] = loop
        kept, complaints = scalars(loop)
        self.assertIn(("x", 1), kept)
        self.assertEqual(len(complaints), 1)


    def test_one_that_contains_itself_twice_ends_too(self):
        loop = {}
        loop["left"] = loop["right"] = loop
        with self.assertRaisesRegex(ValueError, "more than 100,000 names"):
            scalars(loop)


class Steps(unittest.TestCase):
    def test_whole_numbers_of_any_kind_are_steps(self):
        self.assertEqual([to_step(5), to_step(5.0), to_step(Tensor(5))], [5, 5, 5])

    def test_anything_else_is_not(self):
        for step in (0.5, True, "3", None, float("nan"), 10**5000, -(2**53), 1e300):
            with self.assertRaises((TypeError, ValueError)):
                to_step(step)


class Hparams(unittest.TestCase):
    def test_everything_becomes_flat_and_scalar(self):
        params = {"lr": 1e-3, "optim": {"betas": [0.9, 0.99], "fused": True}, "seed": None, "limit": math.inf}
        self.assertEqual(
            hparams(params)[0],
            {"lr": 1e-3, "optim.betas": "[0.9, 0.99]", "optim.fused": True, "seed": None, "limit": "Infinity"},
        )

    def test_a_boolean_of_an_array_library_stays_one(self):
        class Bool(Tensor):
            def __str__(self):
                return "tensor(True)"

        kept, complaints = hparams({"flag": Bool(True), "mask": Bool(True, False)})
        self.assertEqual((kept, complaints), ({"flag": True, "mask": "tensor(True)"}, []))

    def test_a_namespace_is_read_by_its_attributes(self):
        self.assertEqual(hparams(argparse.Namespace(lr=0.1, name="x"))[0], {"lr": 0.1, "name": "x"})

    def test_long_text_is_cut_at_the_limit_of_the_service(self):
        self.assertEqual(len(hparams({"prompt": "é" * 10_000})[0]["prompt"]), HPARAM_TEXT_LIMIT)

    def test_cuts_names_to_what_the_service_accepts(self):
        self.assertEqual([len(name) for name in hparams({"k" * 300: 1, "short": 2})[0]], [HPARAM_NAME_LIMIT, 5])


if __name__ == "__main__":
    unittest.main()
