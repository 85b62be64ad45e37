import { readFileSync } from 'node:fs'
import path from 'node:path'
import { brandStyles } from '../../domain/brand-colors.ts'
import { escapeHtml } from '../../domain/escape-html.ts'
import { defaultProductName } from '../../domain/product.ts'

export interface BrandSettings {
  productName?: string | undefined
  /** `#rrggbb`. */
  productColor?: string | undefined
  /** Path of a picture. */
  productLogo?: string | undefined
}

const logoTypes: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
}

/** The operator's own name, colour and logo on the pages. Throws when the logo cannot be read. */
export function readBrand({ productName, productColor, productLogo }: BrandSettings) {
  const logo = productLogo === undefined ? undefined : readLogo(productLogo)
  return {
    /** Null: that of the software. */
    name: productName ?? null,
    color: productColor ?? null,
    styles: productColor === undefined ? '' : brandStyles(productColor),
    logo,

    /** What a phone or desktop that installs the console as an application is told (W3C Web Application Manifest). */
    manifest: JSON.stringify({
      name: productName ?? defaultProductName,
      short_name: productName ?? defaultProductName,
      id: '/console',
      start_url: '/console',
      scope: '/',
      display: 'standalone',
      background_color: '#fcfcfa',
      theme_color: '#fcfcfa',
      icons:
        logo === undefined
          ? [
              { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml' },
              { src: '/touch-icon', sizes: '512x512', type: 'image/png', purpose: 'any' },
              { src: '/touch-icon', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
            ]
          : [{ src: '/icon.svg', sizes: 'any', type: logo.type }],
    }),

    /** A page as it was built, with the name and the colour. */
    page: (html: string): string => {
      const name = escapeHtml(productName ?? defaultProductName)
      const styles = productColor === undefined ? '' : '<link rel="stylesheet" href="/brand.css" />'
      // A function, because a name may look like a pattern.
      return html.replaceAll('%PRODUCT%', () => name).replace('</head>', () => `${styles}</head>`)
    },
  }
}

function readLogo(file: string): { type: string; bytes: Buffer } {
  const type = logoTypes[path.extname(file).toLowerCase()]
  if (type === undefined) throw new Error(`PRODUCT_LOGO: ${file} is no .svg, .png or .webp`)
  return { type, bytes: readFileSync(file) }
}
