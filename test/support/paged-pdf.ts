import { pdfOf } from './hostile-files.ts'

/** A PDF with these lines of plain letters on its pages. */
export function pagedPdf(pages: string[][]): Buffer {
  const pageNumber = (index: number) => 4 + 2 * index
  const objects = pages.flatMap((lines, index) => {
    const shown = lines.map((line) => `(${line.replaceAll(/[\\()]/g, '\\$&')}) Tj T*\n`).join('')
    const content = `BT /F1 9 Tf 40 800 Td 11 TL\n${shown}ET`
    return [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${pageNumber(index) + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]
  })
  const kids = pages.map((_, index) => `${pageNumber(index)} 0 R`).join(' ')
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...objects,
  ])
}
