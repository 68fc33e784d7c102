// What Java's transactional producer does on a broker: commits, aborts, sends offsets, is fenced.
// java -cp "DIR/*" JavaTransactions.java BOOTSTRAP TOPIC GROUP   (DIR: kafka-clients and what it depends on)
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

public class JavaTransactions {
  static final String STRINGS = "org.apache.kafka.common.serialization.String";

  static KafkaProducer<String, String> producer(String bootstrap) {
    KafkaProducer<String, String> producer = new KafkaProducer<>(Map.of(
        "bootstrap.servers", bootstrap, "transactional.id", "java",
        "key.serializer", STRINGS + "Serializer", "value.serializer", STRINGS + "Serializer"));
    producer.initTransactions();
    return producer;
  }

  static void send(KafkaProducer<String, String> producer, String topic, String name) {
    for (int i = 0; i < 10; i++) producer.send(new ProducerRecord<>(topic, i % 2, null, name + i));
  }

  public static void main(String[] arguments) throws Exception {
    String bootstrap = arguments[0], topic = arguments[1], group = arguments[2];
    KafkaProducer<String, String> first = producer(bootstrap);
    for (int round = 0; round < 3; round++) {
      first.beginTransaction();
      send(first, topic, "committed " + round + " ");
      first.commitTransaction();
      first.beginTransaction();
      send(first, topic, "aborted " + round + " ");
      first.flush();
      first.abortTransaction();
    }
    first.beginTransaction();
    first.sendOffsetsToTransaction(
        Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(5, "five")),
        new ConsumerGroupMetadata(group));
    first.commitTransaction();
    first.beginTransaction();
    first.sendOffsetsToTransaction(
        Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(6)), new ConsumerGroupMetadata(group));
    first.abortTransaction();

    first.beginTransaction();
    send(first, topic, "fenced ");
    first.flush();
    KafkaProducer<String, String> second = producer(bootstrap);
    try {
      first.commitTransaction();
      System.out.println("not fenced");
    } catch (KafkaException error) {
      System.out.println(error.getClass().getSimpleName());
    }
    second.beginTransaction();
    send(second, topic, "second ");
    second.commitTransaction();
    second.close();
    first.close(Duration.ZERO);
    read(bootstrap, topic);
  }

  static void read(String bootstrap, String topic) {
    List<TopicPartition> partitions = List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1));
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(Map.of(
        "bootstrap.servers", bootstrap, "isolation.level", "read_committed", "auto.offset.reset", "earliest",
        "key.deserializer", STRINGS + "Deserializer", "value.deserializer", STRINGS + "Deserializer"))) {
      consumer.assign(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition)))
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100)))
          System.out.println(record.partition() + " " + record.value());
    }
  }
}
