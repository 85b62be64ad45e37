import { Field, FixedSizeList, Float32, Table, Utf8, makeData, makeVector, vectorFromArray } from 'apache-arrow'

/** One row for each chunk. A table holds one space of an assistant. */
export interface LanceRow {
  id: string
  assistant_id: string
  file_id: string
  /** The chunk's terms, separated by spaces: see `domain/search/terms.ts`. */
  terms: string
  vector: number[]
}

/** The rows as columns: LanceDB's own conversion of rows takes five times as long, most of it for the vectors. */
export function toColumns(rows: LanceRow[]): Table {
  const texts = (name: 'id' | 'assistant_id' | 'file_id' | 'terms') =>
    vectorFromArray(
      rows.map((row) => row[name]),
      new Utf8(),
    )
  return new Table({
    id: texts('id'),
    assistant_id: texts('assistant_id'),
    file_id: texts('file_id'),
    terms: texts('terms'),
    vector: vectorsOf(rows),
  })
}

function vectorsOf(rows: LanceRow[]) {
  const dimensions = rows[0]?.vector.length ?? 0
  const numbers = new Float32Array(rows.length * dimensions)
  for (const [index, { vector }] of rows.entries()) {
    if (vector.length !== dimensions) throw new Error('the vectors of one write have different lengths')
    numbers.set(vector, index * dimensions)
  }
  const child = makeData({ type: new Float32(), data: numbers, length: numbers.length })
  const type = new FixedSizeList(dimensions, new Field('item', new Float32(), true))
  return makeVector(makeData({ type, length: rows.length, nullCount: 0, child }))
}
