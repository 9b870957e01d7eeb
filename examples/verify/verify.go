package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Verify returns an error unless Trilho sent this within the last five minutes. Body is what came, before it is parsed;
// id, sentAt and signatures are the headers webhook-id, webhook-timestamp and webhook-signature.
func Verify(body []byte, id, sentAt, signatures, secret string) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return errors.New("the secret is missing")
	}
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if age := time.Now().Unix() - seconds; err != nil || age > 300 || age < -300 {
		return errors.New("too old")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + sentAt + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// While the secret is being rotated there are two signatures: one that fits is enough.
	for _, given := range strings.Split(signatures, " ") {
		if hmac.Equal([]byte(given), expected) {
			return nil
		}
	}
	return errors.New("not signed with this secret")
}

// Tries requests from standard input, one per line: id, time, signatures and body, with tabs between them.
func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		part := strings.SplitN(lines.Text(), "\t", 4)
		err := Verify([]byte(part[3]), part[0], part[1], part[2], os.Getenv("TRILHO_WEBHOOK_SECRET"))
		if err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("good")
		}
	}
}
