// Writes java_assignors.json: what Apache Kafka 4.3.1's four assignors give to random groups.
// java -Dorg.slf4j.simpleLogger.defaultLogLevel=off -cp "DIR/*" JavaAssignors.java > java_assignors.json   (DIR: kafka-clients 4.3.1 and what it depends on)
import java.nio.ByteBuffer;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.*;

public class JavaAssignors {
  static final Node[] NODES = {
    new Node(0, "a", 1, "a"), new Node(1, "b", 1, "b"), new Node(2, "c", 1, "c"), new Node(3, "d", 1, null)};

  /** A member as it joins: `owned` is what it claims, of `generation`; `old`: a client before KIP-792. */
  static class Member {
    String id, instance, rack;
    Set<String> topics = new TreeSet<>();
    List<TopicPartition> owned = new ArrayList<>();
    int generation = -1;
    boolean old;
  }

  final String assignor;
  final Random random;
  final boolean racks, equal, conflicts;
  final TreeMap<String, List<String>> topics = new TreeMap<>();
  final List<Member> members = new ArrayList<>();
  // Of the newest two rounds: member id to what it got.
  Map<String, List<TopicPartition>> last = new HashMap<>(), before = new HashMap<>();
  int generation = 0;

  JavaAssignors(String assignor, long seed) {
    this.assignor = assignor;
    random = new Random(seed * 0x9E3779B97F4A7C15L);  // neighbouring seeds begin alike
    racks = random.nextInt(10) < 4;
    equal = random.nextInt(10) < 5;
    conflicts = random.nextInt(10) < 6;
    for (int i = 1 + random.nextInt(4); i > 0; i--) addTopic();
    for (int i = 1 + random.nextInt(9); i > 0; i--) addMember();
  }

  void addTopic() {
    String name;
    do name = "t" + random.nextInt(100); while (topics.containsKey(name));
    topics.put(name, new ArrayList<>());
    int sameAs = random.nextInt(3);
    for (int i = sameAs == 0 ? 6 : 1 + random.nextInt(14); i > 0; i--) grow(name);
  }

  void grow(String topic) {
    StringBuilder where = new StringBuilder();
    for (int i = 0; i < 4; i++) if (random.nextInt(3) == 0) where.append((char) ('a' + i));
    topics.get(topic).add(racks ? where.toString() : "");
  }

  void addMember() {
    Member m = new Member();
    m.id = (random.nextBoolean() ? "consumer-" : "c") + Integer.toHexString(random.nextInt());
    if (random.nextInt(4) == 0) m.instance = "i" + random.nextInt(100000);
    if (racks && random.nextInt(5) != 0) m.rack = "" + (char) ('a' + random.nextInt(3));
    m.old = !conflicts && random.nextInt(5) == 0;
    members.add(m);
  }

  void subscribe(Member m) {
    if (equal) { m.topics = new TreeSet<>(topics.keySet()); return; }
    m.topics.removeIf(t -> !topics.containsKey(t) && random.nextBoolean());
    if (m.topics.isEmpty() || random.nextInt(6) == 0) {
      m.topics.clear();
      for (String t : topics.keySet()) if (random.nextInt(3) != 0) m.topics.add(t);
      if (m.topics.isEmpty()) m.topics.add(topics.firstKey());
    }
  }

  void evolve() {
    if (generation > 0) {
      for (int i = random.nextInt(3); i > 0 && members.size() > 1; i--) members.remove(random.nextInt(members.size()));
      for (int i = random.nextInt(3); i > 0; i--) addMember();
      if (random.nextInt(4) == 0) for (int i = 1 + random.nextInt(3); i > 0; i--) grow(topics.firstKey());
      if (random.nextInt(6) == 0) addTopic();
      if (random.nextInt(8) == 0 && topics.size() > 1) topics.remove(topics.lastKey());
    }
    Map<TopicPartition, Integer> claims = new HashMap<>();
    for (Member m : members) {
      subscribe(m);
      boolean late = conflicts && random.nextInt(5) == 0 && before.containsKey(m.id);
      m.owned = new ArrayList<>((late ? before : last).getOrDefault(m.id, List.of()));
      m.generation = (late ? before : last).containsKey(m.id) ? (late ? generation - 1 : generation) : -1;
      m.owned.forEach(p -> claims.merge(p, 1, Integer::sum));
    }
    if (conflicts && generation > 0 && random.nextInt(3) == 0) {
      Member one = members.get(random.nextInt(members.size())), two = members.get(random.nextInt(members.size()));
      for (TopicPartition p : two.owned)
        if (one.generation == two.generation && one != two && claims.get(p) == 1 && random.nextInt(3) == 0) {
          one.owned.add(p);
          claims.merge(p, 1, Integer::sum);
        }
    }
  }

  ByteBuffer userData(Member m) {
    if (assignor.equals("sticky")) {
      if (m.generation < 0) return null;
      StickyAssignor sender = new StickyAssignor();
      sender.onAssignment(new Assignment(m.owned), new ConsumerGroupMetadata("g", m.generation, m.id, Optional.empty()));
      ByteBuffer data = sender.subscriptionUserData(m.topics);
      if (m.old) data.limit(data.limit() - 4);  // version 0 has no generation
      return data.slice();
    }
    if (!assignor.equals("cooperative-sticky")) return null;
    return ByteBuffer.allocate(4).putInt(0, m.generation);
  }

  ConsumerPartitionAssignor create() {
    switch (assignor) {
      case "range": return new RangeAssignor();
      case "roundrobin": return new RoundRobinAssignor();
      case "sticky": return new StickyAssignor();
      default: return new CooperativeStickyAssignor();
    }
  }

  String round() {
    evolve();
    List<PartitionInfo> partitions = new ArrayList<>();
    topics.forEach((topic, all) -> {
      for (int i = 0; i < all.size(); i++) {
        Node[] replicas = all.get(i).chars().mapToObj(c -> NODES[c - 'a']).toArray(Node[]::new);
        partitions.add(new PartitionInfo(topic, i, null, replicas, replicas));
      }
    });
    Map<String, Subscription> subscriptions = new HashMap<>();
    List<String> asJson = new ArrayList<>();
    for (Member m : members) {
      ByteBuffer data = userData(m);
      boolean cooperative = assignor.equals("cooperative-sticky");
      Subscription s = new Subscription(new ArrayList<>(m.topics), data, cooperative ? m.owned : List.of(),
          m.old ? -1 : m.generation, Optional.ofNullable(m.rack));
      s.setGroupInstanceId(Optional.ofNullable(m.instance));
      subscriptions.put(m.id, s);
      asJson.add(quoted(m.id) + ":{\"topics\":[" + m.topics.stream().map(JavaAssignors::quoted).collect(Collectors.joining(",")) + "]"
          + (m.instance == null ? "" : ",\"instance\":" + quoted(m.instance))
          + (m.rack == null ? "" : ",\"rack\":" + quoted(m.rack))
          + (m.owned.isEmpty() || !cooperative ? "" : ",\"owned\":" + json(m.owned))
          + (s.generationId().isEmpty() ? "" : ",\"generation\":" + s.generationId().get())
          + (data == null ? "" : ",\"user_data\":" + quoted(hex(data))) + "}");
    }
    Cluster cluster = new Cluster("c", List.of(NODES), partitions, Set.of(), Set.of());
    String result;
    try {
      Map<String, Assignment> got = create().assign(cluster, new GroupSubscription(subscriptions)).groupAssignment();
      before = last;
      last = new HashMap<>();
      got.forEach((id, a) -> last.put(id, a.partitions()));
      result = members.stream().map(m -> quoted(m.id) + ":" + json(last.get(m.id))).collect(Collectors.joining(",", "{", "}"));
    } catch (RuntimeException e) {
      result = quoted(e.getClass().getSimpleName());
    }
    generation++;
    String where = topics.entrySet().stream().map(e -> quoted(e.getKey()) + ":" + (racks
        ? e.getValue().stream().map(JavaAssignors::quoted).collect(Collectors.joining(",", "[", "]")) : "" + e.getValue().size()))
        .collect(Collectors.joining(",", "{", "}"));
    return "{\"assignor\":" + quoted(assignor) + ",\"topics\":" + where + ",\n\"members\":{" + String.join(",", asJson) + "},\n\"java\":" + result + "}";
  }

  static String quoted(String text) { return "\"" + text + "\""; }

  static String hex(ByteBuffer data) {
    StringBuilder text = new StringBuilder();
    for (ByteBuffer d = data.duplicate(); d.hasRemaining();) text.append(String.format("%02x", d.get()));
    return text.toString();
  }

  static String json(Collection<TopicPartition> partitions) {
    TreeMap<String, TreeSet<Integer>> byTopic = new TreeMap<>();
    for (TopicPartition p : partitions) byTopic.computeIfAbsent(p.topic(), t -> new TreeSet<>()).add(p.partition());
    return byTopic.entrySet().stream().map(e -> quoted(e.getKey()) + ":" + e.getValue().toString().replace(" ", "")).collect(Collectors.joining(",", "{", "}"));
  }

  public static void main(String[] arguments) {
    int groups = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 30;
    List<String> cases = new ArrayList<>();
    for (String assignor : List.of("range", "roundrobin", "sticky", "cooperative-sticky")) {
      // The first two remember nothing: one round of a group says it all.
      int rounds = assignor.endsWith("sticky") ? 4 : 1;
      List<Integer> seeds = IntStream.range(0, rounds == 1 ? 2 * groups : groups).boxed().collect(Collectors.toList());
      // Rare: a partition that had moved the other way is moved back though that evens out nothing.
      if (rounds > 1) seeds.add(221);
      for (int seed : seeds) {
        JavaAssignors group = new JavaAssignors(assignor, seed);
        for (int round = 0; round < rounds; round++) cases.add(group.round());
      }
    }
    System.out.print("[\n" + String.join(",\n", cases) + "\n]\n");
  }
}
