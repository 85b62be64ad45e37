/** Certificates in PEM form: the trusted CA, and the client certificate with its key. */
export interface TlsSettings {
  ca?: string | undefined
  cert?: string | undefined
  key?: string | undefined
}

/**
 * In the form of Node's TLS options; undefined if nothing is set. Members that are not set are left out, so that
 * the system's authorities apply.
 */
export function tlsOptions({ ca, cert, key }: TlsSettings): { ca?: string; cert?: string; key?: string } | undefined {
  if (ca === undefined && cert === undefined) return undefined
  return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert, key }) }
}
