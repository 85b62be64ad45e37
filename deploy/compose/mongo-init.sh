# Run once by the image of MongoDB, when its volume is empty: creates the user with which the service logs in.
mongosh --quiet --username root --password "$(cat /run/secrets/mongo_root_password)" --authenticationDatabase admin assistants --eval '
  const password = require("fs").readFileSync("/run/secrets/mongo_password", "utf8").trim()
  db.createUser({ user: "assistants", pwd: password, roles: [{ role: "readWrite", db: "assistants" }] })
'
