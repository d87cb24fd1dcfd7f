// graphql-transport-ws by graphql-ws: a mutation that returns its argument. Prints its URL.
import { createServer } from "node:http";
import { GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString } from "graphql";
import { useServer } from "graphql-ws/use/ws";
import { WebSocketServer } from "ws";

const JSON_VALUE = new GraphQLScalarType({ name: "JSON" });
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: "Query", fields: { name: { type: GraphQLString } } }),
  mutation: new GraphQLObjectType({
    name: "Mutation",
    fields: {
      echo: { type: JSON_VALUE, args: { p: { type: JSON_VALUE } }, resolve: (_, { p }) => p },
    },
  }),
});

const http = createServer();
useServer({ schema }, new WebSocketServer({ server: http, path: "/graphql" }));
http.listen(0, "127.0.0.1", 4096, () => {
  console.log(`ws://127.0.0.1:${http.address().port}/graphql`);
});
