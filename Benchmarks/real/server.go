// An HTTP server in Go that asks itself.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"
)

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, r.URL.Path)
	}))
	for range time.Tick(5 * time.Millisecond) {
		if answer, err := http.Get(server.URL + "/x"); err == nil {
			answer.Body.Close()
		}
	}
}
