// SPDX-License-Identifier: Apache-2.0
// Prints what each URL leads to; a client of tests/scenario/clients.
import java.net.URI;
import java.net.http.*;

public class Fetch {
    public static void main(String[] urls) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (String url : urls)
            System.out.print(client.send(HttpRequest.newBuilder(URI.create(url)).build(),
                    HttpResponse.BodyHandlers.ofString()).body());
    }
}
