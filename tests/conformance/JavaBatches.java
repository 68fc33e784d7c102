// Writes java_batches.json: what Apache Kafka 4.3.1 makes of the records of test_record_batches.py.
// java -cp "DIR/*" JavaBatches.java > java_batches.json   (DIR: kafka-clients 4.3.1 and what it depends on)
import org.apache.kafka.common.record.*; import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.compress.*;
import org.apache.kafka.common.header.*;
import org.apache.kafka.common.header.internals.*;
import java.nio.ByteBuffer;
import java.util.*;
public class JavaBatches {
  static String hex(ByteBuffer b){ b=b.duplicate(); StringBuilder s=new StringBuilder(); while(b.hasRemaining()) s.append(String.format("%02x",b.get())); return s.toString(); }
  static SimpleRecord[] recs(){
    SimpleRecord[] r=new SimpleRecord[20];
    for(int i=0;i<r.length;i++){
      Header[] h = i==3 ? new Header[]{new RecordHeader("trace","abc".getBytes()), new RecordHeader("none",(byte[])null), new RecordHeader("ü",new byte[0])} : new Header[0];
      byte[] key = i%5==4?null:("key-"+i).getBytes();
      byte[] val = i%7==6?null:("value-"+i+"-").repeat(i).getBytes();
      r[i]=new SimpleRecord(1700000000000L+i*1000-(i==10?5000:0), key, val, h);
    }
    return r;
  }
  static Compression comp(String n){ switch(n){case "gzip":return Compression.gzip().build();case "snappy":return Compression.snappy().build();case "lz4":return Compression.lz4().build();case "zstd":return Compression.zstd().build();default:return Compression.NONE;} }
  public static void main(String[] a) throws Exception {
    StringBuilder out=new StringBuilder("{\n");
    for(String c: new String[]{"none","gzip","snappy","lz4","zstd"}){
      MemoryRecords m=MemoryRecords.withRecords(RecordBatch.MAGIC_VALUE_V2,100L,comp(c),TimestampType.CREATE_TIME,77L,(short)3,40,5,true,recs());
      out.append("  \"v2_"+c+"\": \""+hex(m.buffer())+"\",\n");
      if(!c.equals("zstd")) {
        SimpleRecord[] r=recs(); for(int i=0;i<r.length;i++) r[i]=new SimpleRecord(r[i].timestamp(), r[i].key(), r[i].value());
        for(byte magic=0;magic<2;magic++){
          MemoryRecordsBuilder b=MemoryRecords.builder(ByteBuffer.allocate(1<<20),magic,comp(c),TimestampType.CREATE_TIME,100L);
          for(SimpleRecord s:r) b.append(magic==0?new SimpleRecord(-1L,s.key(),s.value()):s);
          out.append("  \"v"+magic+"_"+c+"\": \""+hex(b.build().buffer())+"\",\n");
        }
      }
    }
    MemoryRecords la=MemoryRecords.withRecords(RecordBatch.MAGIC_VALUE_V2,100L,Compression.NONE,TimestampType.LOG_APPEND_TIME,recs());
    out.append("  \"v2_log_append_builder\": \""+hex(la.buffer())+"\",\n");
    for(ControlRecordType t: new ControlRecordType[]{ControlRecordType.ABORT,ControlRecordType.COMMIT}){
      MemoryRecords m=MemoryRecords.withEndTransactionMarker(200L,1700000000123L,5,77L,(short)3,new EndTransactionMarker(t,2));
      out.append("  \"marker_"+t.name().toLowerCase()+"\": \""+hex(m.buffer())+"\",\n");
    }
    out.setLength(out.length()-2); out.append("\n}\n");
    System.out.print(out);
  }
}
