// graphql-transport-ws by graphql-ws: a subscription that says so many words, one by one. Prints its URL.
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } from "graphql";
import { useServer } from "graphql-ws/use/ws";
import { WebSocketServer } from "ws";

const Word = new GraphQLObjectType({
  name: "Word",
  fields: { index: { type: GraphQLInt }, text: { type: GraphQLString } },
});

async function* words(_, { count }) {
  for (let index = 1; index <= count; index += 1) {
    yield { words: { index, text: "word" } };
    await pause(2);
  }
}

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: "Query", fields: { name: { type: GraphQLString } } }),
  subscription: new GraphQLObjectType({
    name: "Subscription",
    fields: { words: { type: Word, args: { count: { type: GraphQLInt } }, subscribe: words } },
  }),
});

const http = createServer();
useServer({ schema }, new WebSocketServer({ server: http, path: "/graphql" }));
http.listen(0, "127.0.0.1", 4096, () => {
  console.log(`ws://127.0.0.1:${http.address().port}/graphql`);
});
