import type { Block } from '../../../domain/chunking/block.ts'
import { type CellPosition, createBorderedRows } from '../bordered-rows.ts'

const maxCells = 1000

/** The rows of a table of RTF. */
export function createRows() {
  const rows = createBorderedRows()
  let places: CellPosition[] = []
  let merged: CellPosition['merged']
  let isHeader = false
  let texts: string[] = []

  return {
    /** A word that says how the row looks. False if it is another one. */
    word(name: string, value: number | undefined): boolean {
      if (name === 'trowd') {
        places = []
        isHeader = false
      } else if (name === 'trhdr') isHeader = true
      else if (name === 'clvmrg') merged = 'below'
      else if (name === 'clmrg') merged = 'beside'
      else if (name === 'cellx') {
        if (places.length < maxCells) places.push({ right: value ?? 0, merged })
        merged = undefined
      } else return false
      return true
    },
    endCell(text: string): void {
      if (texts.length < maxCells) texts.push(text)
    },
    endRow,
    isOpen: (): boolean => rows.isOpen() || texts.length > 0,
    end: rows.end,
    /** Of a document that ends: cells without the end of their row are one. */
    endAll: (): Block[] => [...(texts.length > 0 ? endRow() : []), ...rows.end()],
  }

  function endRow(): Block[] {
    const cells = texts.map((text, index) => ({
      text,
      place: places[index] ?? { right: (places.at(-1)?.right ?? 0) + (index + 1) * 100, merged: undefined },
    }))
    texts = []
    return rows.add({ cells, isHeader })
  }
}
