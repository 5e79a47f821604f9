// A receiver of webhooks: it checks who sent them, and acts once on each event. Go 1.20 or later, no modules.
//
//	SVC_WEBHOOK_SECRET=<your signing secret> PORT=4242 go run receiver.go
//
// It listens on this machine alone: put your web server, with TLS, in front of it.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

const bodyMax = 1 << 20

type event struct {
	EventID   string `json:"eventId"`
	EventType string `json:"eventType"`
}

// The events that were acted on, or are just now. A restart forgets them: in production the note and the act belong in
// one database transaction, the note into a table with a unique eventId, kept for 30 days or longer.
var seen sync.Map

func act(e event) error {
	_, err := fmt.Println(e.EventType, e.EventID)
	return err
}

// The same event may come again: it is answered at once, and nothing is done twice.
func actOnce(e event) error {
	if _, known := seen.LoadOrStore(e.EventID, true); known {
		return nil
	}
	acted := false
	// Forgotten and answered 500, it is sent again; so it is when act panics.
	defer func() {
		if !acted {
			seen.Delete(e.EventID)
		}
	}()
	err := act(e)
	acted = err == nil
	return err
}

// The signature is made over the bytes as they arrived: a body that was parsed and written again has another one. While
// a rotation's overlap lasts there are two, of the new secret and of the one before; either proves the sender.
func isSigned(body, secret []byte, headers http.Header) bool {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	newest := hmac.Equal(expected, []byte(headers.Get("X-Service-Signature")))
	previous := hmac.Equal(expected, []byte(headers.Get("X-Service-Signature-Previous")))
	return newest || previous
}

func answer(r *http.Request, secret []byte) int {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	if r.ContentLength > bodyMax {
		return http.StatusRequestEntityTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyMax+1))
	if len(body) > bodyMax {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil || !isSigned(body, secret, r.Header) {
		return http.StatusUnauthorized
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return http.StatusBadRequest
	}
	if err := actOnce(e); err != nil {
		log.Print(err)
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

func main() {
	secret, port := os.Getenv("SVC_WEBHOOK_SECRET"), os.Getenv("PORT")
	if secret == "" {
		log.Fatal("SVC_WEBHOOK_SECRET is not set")
	}
	if port == "" {
		port = "4242"
	}
	receive := func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(answer(r, []byte(secret))) }
	log.Print("receiving webhooks on port ", port)
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: http.HandlerFunc(receive), ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
