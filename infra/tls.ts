/** Certificates in PEM form: whom to trust in place of the system's authorities, and whom to be. */
export interface TlsSettings {
  ca?: string | undefined
  cert?: string | undefined
  key?: string | undefined
}

/** As Node's TLS takes it; undefined when nothing is set. Members that are not set are left out: the system's authorities hold then. */
export function tlsOptions({ ca, cert, key }: TlsSettings): { ca?: string; cert?: string; key?: string } | undefined {
  if (ca === undefined && cert === undefined) return undefined
  return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert, key }) }
}
