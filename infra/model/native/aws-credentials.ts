/**
 * A key of Bedrock, or the parts of an access key as one text: `ACCESS_KEY_ID:SECRET`, and `:SESSION_TOKEN` after it for a
 * temporary one. Requests are then signed for the region of the address.
 */
export function awsCredentials(key: string, baseUrl: string) {
  const [, accessKeyId, secretAccessKey, sessionToken] = accessKeyPattern.exec(key) ?? []
  if (accessKeyId === undefined || secretAccessKey === undefined) return { apiKey: key }
  // Blank: a key of the environment must not be used in its place.
  return { apiKey: ' ', accessKeyId, secretAccessKey, sessionToken, region: regionOf(baseUrl) }
}

/** Whether a key only signs requests, and is itself never sent. */
export function isAccessKey(key: string): boolean {
  return accessKeyPattern.test(key)
}

const accessKeyPattern = /^(A[A-Z0-9]{15,127}):([^:]+)(?::(.+))?$/

/** `bedrock-runtime.eu-central-1.amazonaws.com`; other addresses are those of gateways. */
function regionOf(baseUrl: string): string {
  return /^bedrock[\w-]*\.([a-z0-9-]+)\./.exec(new URL(baseUrl).hostname)?.[1] ?? 'us-east-1'
}
