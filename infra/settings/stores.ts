import {
  credential,
  key,
  keys,
  objectLocation,
  onOff,
  oneOf,
  origins,
  readBy,
  redisUrl,
  secret,
  text,
  tls,
  url,
} from './kinds.ts'

export const storeSettings = {
  mongodbUri: credential('MONGODB_URI', 'MongoDB, a replica set.', {
    default: 'mongodb://127.0.0.1:27017/assistants',
  }),
  mongodbTls: tls('MONGODB_TLS', 'MongoDB'),
  redisUrl: redisUrl('REDIS_URL', 'Redis, a cluster or Sentinels (docs/operations.md); `rediss` for TLS.', {
    default: 'redis://127.0.0.1:6379',
  }),
  redisTls: tls('REDIS_TLS', 'Redis'),
  vectorStore: oneOf('VECTOR_STORE', ['lancedb', 'pinecone', 'qdrant'], 'lancedb (embedded), qdrant or pinecone.', {
    default: 'lancedb',
  }),
  lancedbUri: text('LANCEDB_URI', 'Folder of LanceDB, or a bucket, named as in BLOBS_URL.', {
    defaultText: '{DATA_DIR}/lancedb',
  }),
  pineconeApiKey: credential('PINECONE_API_KEY', 'Key of Pinecone.'),
  pineconeIndex: text('PINECONE_INDEX', 'Index in Pinecone.'),
  pineconeHost: url('PINECONE_HOST', 'Address of that index.'),
  qdrantUrl: url('QDRANT_URL', 'Such as `https://qdrant.example.com:6333`.'),
  qdrantApiKey: credential('QDRANT_API_KEY', 'Key of Qdrant.'),
  qdrantCollection: text('QDRANT_COLLECTION', 'Collection; one for each vector length.', {
    default: 'assistants',
  }),
  blobsUrl: objectLocation('BLOBS_URL', 'Bucket for the bytes of files (docs/object-storage.md).', {
    defaultText: 'in MongoDB',
  }),
  s3AccessKeyId: credential('S3_ACCESS_KEY_ID', 'Name of the key of the buckets of BLOBS_URL and LANCEDB_URI.'),
  s3SecretAccessKey: credential('S3_SECRET_ACCESS_KEY', 'That key.'),
}

export const temporalSettings = {
  temporalAddress: text('TEMPORAL_ADDRESS', 'Host and port of Temporal.', { default: '127.0.0.1:7233' }),
  temporalNamespace: text('TEMPORAL_NAMESPACE', 'Namespace in Temporal.', { default: 'default' }),
  temporalTls: onOff('TEMPORAL_TLS', 'Also on with an authority or certificate.', {
    default: false,
  }),
  temporalTlsFiles: tls('TEMPORAL_TLS', 'Temporal'),
  temporalTlsServerName: text('TEMPORAL_TLS_SERVER_NAME', "Name in Temporal's certificate, if it is not the host."),
  temporalApiKey: credential('TEMPORAL_API_KEY', 'Key of Temporal Cloud.'),
  temporalDeploymentName: text(
    'TEMPORAL_DEPLOYMENT_NAME',
    'Deployment (docs/operations/upgrade.md); needs the next setting.',
    { defaultText: 'workers are not versioned' },
  ),
  temporalWorkerBuildId: text('TEMPORAL_WORKER_BUILD_ID', 'Id of this build.'),
  temporalCodecKey: key('TEMPORAL_CODEC_KEY', 'Encrypts payloads: 32 bytes in base64.', {
    defaultText: 'payloads are not encrypted',
  }),
  temporalCodecKeyPrevious: keys('TEMPORAL_CODEC_KEY_PREVIOUS', 'Earlier values, to read old histories.', {
    default: [],
  }),
  ...readBy('API', {
    temporalCodecToken: secret('TEMPORAL_CODEC_TOKEN', 'Token of the codec endpoint (32 characters).', {
      defaultText: 'derived from TEMPORAL_CODEC_KEY',
    }),
    temporalUiOrigins: origins('TEMPORAL_UI_ORIGINS', 'Origins of the Temporal UI.', {
      default: [],
    }),
  }),
}
