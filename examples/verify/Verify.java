import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.Scanner;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Verify {
    /**
     * Throws unless Trilho sent this within the last five minutes. `body` is what came, before it is parsed; `id`,
     * `time` and `signatures` are the headers webhook-id, webhook-timestamp and webhook-signature.
     */
    static void verify(byte[] body, String id, String time, String signatures, String secret)
            throws GeneralSecurityException {
        byte[] key = Base64.getDecoder().decode(secret.replace("whsec_", ""));
        if (key.length == 0) throw new SecurityException("the secret is missing");
        if (!time.matches("[0-9]{1,12}") || Math.abs(Instant.now().getEpochSecond() - Long.parseLong(time)) > 300)
            throw new SecurityException("too old");
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update((id + "." + time + ".").getBytes(StandardCharsets.UTF_8));
        String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
        // While the secret is being rotated there are two signatures: one that fits is enough.
        for (String given : signatures.split(" "))
            if (MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8)))
                return;
        throw new SecurityException("not signed with this secret");
    }

    /** Tries requests from standard input, one per line: id, time, signatures and body, with tabs between them. */
    public static void main(String[] args) throws GeneralSecurityException {
        String secret = System.getenv().getOrDefault("TRILHO_WEBHOOK_SECRET", "");
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
        while (lines.hasNextLine()) {
            String[] part = lines.nextLine().split("\t", 4);
            try {
                verify(part[3].getBytes(StandardCharsets.UTF_8), part[0], part[1], part[2], secret);
                System.out.println("good");
            } catch (SecurityException refused) {
                System.out.println(refused.getMessage());
            }
        }
    }
}
