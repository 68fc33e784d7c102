"""The module `abc` has the names of aiokafka's."""

import aiokafka.abc

import aiokafka_lite
import aiokafka_lite.abc


def test_the_names_are_those_of_aiokafka_and_the_classes_those_of_the_package() -> None:
    assert set(aiokafka.abc.__all__) <= set(aiokafka_lite.abc.__all__)
    for name in aiokafka_lite.abc.__all__:
        assert getattr(aiokafka_lite.abc, name) is getattr(aiokafka_lite, name)
