/** Where an S3-compatible store keeps our objects. */
export interface ObjectLocation {
  bucket: string
  /** Empty, or ends with a slash. */
  prefix: string
  region: string
  /** Address of the store, without a path. */
  endpoint: URL
  /** Whether the bucket stands in the host name instead of in the path. */
  isVirtualHost: boolean
}

/**
 * Reads `s3://BUCKET/PREFIX?region=…&endpoint=…&style=path|virtual`. The problem as text if it is wrong, without the
 * value.
 */
export function parseLocation(text: string): ObjectLocation | string {
  if (!URL.canParse(text)) return 'is no address'
  const url = new URL(text)
  if (url.protocol !== 's3:') return 'must begin with s3://'
  if (url.username !== '' || url.password !== '' || url.port !== '') return 'must not hold credentials or a port'
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname)) return 'must name a bucket'
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, '')
  if (!/^[\w./-]{0,200}$/.test(prefix) || prefix.includes('//'))
    return 'has a prefix with other signs than A-Za-z0-9_.-/'
  const known = new Set(['region', 'endpoint', 'style'])
  for (const name of url.searchParams.keys()) if (!known.has(name)) return `has an unknown parameter (${name})`
  const region = url.searchParams.get('region') ?? 'us-east-1'
  if (!/^[a-z0-9-]{1,40}$/.test(region)) return 'has a wrong region'
  const endpoint = url.searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`
  const address = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (address === undefined || !/^https?:$/.test(address.protocol)) return 'has an endpoint that is no http(s) address'
  if (address.username !== '' || address.pathname !== '/' || address.search !== '')
    return 'has an endpoint with more than a host and a port'
  const style = url.searchParams.get('style') ?? 'path'
  if (style !== 'path' && style !== 'virtual') return 'has a style other than path and virtual'
  return {
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
    endpoint: address,
    isVirtualHost: style === 'virtual',
  }
}
