// SPDX-License-Identifier: Apache-2.0

// Prints what each URL leads to; a client of tests/scenario/clients.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	for _, url := range os.Args[1:] {
		r, err := http.Get(url)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		io.Copy(os.Stdout, r.Body)
		r.Body.Close()
	}
}
