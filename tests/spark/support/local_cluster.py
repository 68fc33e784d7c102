"""A driver whose one executor is a process of its own, with a folder of its own.

    python local_cluster.py SERVERS PASSWORD

It reads topic t twice, in a folder that has `only-here.pem` and `distributed.pem`. Spark
distributes the latter. It prints a line of JSON: the rows, and the error of the other read.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from aiokafka_lite.spark import register
from tests.spark.support.killed_driver import SETTINGS
from tests.spark.support.secured import sasl_ssl
from tests.spark.support.spark_io import source

MASTER = "local-cluster[1,1,512]"


def main(servers: str, password: str) -> None:
    builder = SparkSession.builder.master(MASTER).config("spark.executor.memory", "512m")
    for name, value in {**SETTINGS, "spark.files": "distributed.pem"}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    register(spark)
    found = source(spark, servers, **sasl_ssl(Path("distributed.pem"), password)).count()
    try:
        source(spark, servers, **sasl_ssl(Path("only-here.pem"), password)).count()
        said = ""
    except Exception as error:  # noqa: BLE001 - the test looks at it
        said = str(error)
    print(json.dumps({"rows": found, "error": said}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
