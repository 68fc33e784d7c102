// Writes java_consumer_protocol.json: what Apache Kafka 4.3.1 makes of the values of test_consumer_protocol.py.
// java -cp "DIR/*" JavaConsumerProtocol.java > java_consumer_protocol.json   (DIR: kafka-clients 4.3.1 and what it depends on)
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;
import java.nio.ByteBuffer;
import java.util.*;
public class JavaConsumerProtocol {
  static String hex(ByteBuffer b){ b=b.duplicate(); StringBuilder s=new StringBuilder(); while(b.hasRemaining()) s.append(String.format("%02x",b.get())); return s.toString(); }
  static ByteBuffer bytes(int... v){ byte[] b=new byte[v.length]; for(int i=0;i<v.length;i++) b[i]=(byte)v[i]; return ByteBuffer.wrap(b); }
  static StringBuilder out=new StringBuilder("{\n");
  static void put(String name, ByteBuffer b){ out.append("  \"").append(name).append("\": \"").append(hex(b)).append("\",\n"); }
  public static void main(String[] a) {
    List<TopicPartition> parts=List.of(new TopicPartition("orders",7),new TopicPartition("grüße",0),new TopicPartition("orders",2));
    List<String> topics=List.of("orders","grüße","audit");
    for(short v=0;v<=3;v++){
      put("subscription_empty_v"+v, ConsumerProtocol.serializeSubscription(new Subscription(List.of()), v));
      put("subscription_full_v"+v, ConsumerProtocol.serializeSubscription(new Subscription(topics, bytes(0,255,1), parts, 42, Optional.of("rack-a")), v));
      put("assignment_empty_v"+v, ConsumerProtocol.serializeAssignment(new Assignment(List.of()), v));
      put("assignment_full_v"+v, ConsumerProtocol.serializeAssignment(new Assignment(parts, bytes(0,255,1)), v));
    }
    put("subscription_full_v9", ConsumerProtocol.serializeSubscription(new Subscription(topics, bytes(0,255,1), parts, 42, Optional.of("rack-a")), (short)9));
    put("assignment_full_v9", ConsumerProtocol.serializeAssignment(new Assignment(parts, bytes(0,255,1)), (short)9));
    put("subscription_no_rack", ConsumerProtocol.serializeSubscription(new Subscription(topics, bytes(), List.of(), 42, Optional.empty())));
    out.setLength(out.length()-2); out.append("\n}\n");
    System.out.print(out);
  }
}
