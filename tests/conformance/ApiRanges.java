import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;

import org.apache.kafka.common.protocol.ApiKeys;

/**
 * Prints the API versions that a broker of this release tells its clients, as one JSON object: API key and name ->
 * [lowest, highest]. Versions that are not stable yet are left out, as brokers leave them out.
 *
 * <p>Run: java -cp kafka-clients-VERSION.jar:slf4j-api.jar ApiRanges.java zookeeper|kraft
 */
public class ApiRanges {
    public static void main(String[] arguments) throws Exception {
        Map<String, String> ranges = new TreeMap<>();
        for (ApiKeys key : keys(arguments[0].equals("kraft") ? "BROKER" : "ZK_BROKER")) {
            if (!isEnabled(key)) {
                continue;
            }
            int lowest = key.oldestVersion();
            int highest = latest(key);
            if (lowest <= highest) {
                ranges.put(String.format("%02d %s", key.id, key.name), "[" + lowest + ", " + highest + "]");
            }
        }
        StringBuilder out = new StringBuilder("{");
        ranges.forEach((name, range) -> out.append(out.length() > 1 ? ", " : "").append('"').append(name).append("\": ").append(range));
        System.out.println(out.append("}"));
    }

    /** Before 2.8 every broker had all of them. */
    @SuppressWarnings("unchecked")
    private static Collection<ApiKeys> keys(String listener) throws Exception {
        for (Method method : ApiKeys.class.getMethods()) {
            if (method.getName().equals("apisForListener")) {
                for (Object each : method.getParameterTypes()[0].getEnumConstants()) {
                    if (each.toString().equals(listener)) {
                        return ((Collection<ApiKeys>) method.invoke(null, each)).stream().sorted(Comparator.comparing(k -> k.id)).toList();
                    }
                }
                throw new IllegalArgumentException("this release has no such broker");
            }
        }
        return java.util.List.of(ApiKeys.values());
    }

    /** 2.7 has the APIs of Raft, and offers them to nobody. */
    private static boolean isEnabled(ApiKeys key) throws Exception {
        try {
            return (Boolean) ApiKeys.class.getField("isEnabled").get(key);
        } catch (NoSuchFieldException other) {
            return true;
        }
    }

    /** From 3.5 on a message may have versions that are not stable. */
    private static int latest(ApiKeys key) throws Exception {
        try {
            return (Short) ApiKeys.class.getMethod("latestVersion", boolean.class).invoke(key, false);
        } catch (NoSuchMethodException old) {
            return key.latestVersion();
        }
    }
}
