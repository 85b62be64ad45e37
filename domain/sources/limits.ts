/** What one crawl may take, whatever a site answers. */
export const crawlLimits = {
  /** Bytes of one source and crawl, unpacked. */
  sourceBytes: 1024 * 1024 * 1024,
  /** Bytes of a page, unpacked, and of other documents. */
  pageBytes: 5 * 1024 * 1024,
  documentBytes: 25 * 1024 * 1024,
  /** For one request, from the first byte sent to the last one received. */
  requestMs: 30_000,
  redirects: 5,
  /** Of a page; of a sitemap or feed. */
  links: 2000,
  listedLinks: 10_000,
  robotsBytes: 256 * 1024,
  /** A site that wants longer pauses is read in this rhythm all the same up to here, and else left alone. */
  crawlDelaySeconds: 60,
  /** Sitemaps that name sitemaps. */
  listDepth: 3,
  /** How often a page is asked whose server fails. */
  tries: 3,
  /** How often a visit may begin that ends in no way, such as one that kills its process. */
  taken: 6,
  /** Addresses that differ only in what follows the `?`. */
  queriesOfPath: 200,
} as const

/** Records of addresses, which are left out beyond that without one. */
export const knownAddressesMax = (maxPages: number) => 3 * maxPages + 500
