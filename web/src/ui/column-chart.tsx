import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { formatNumber } from '../lib/format.ts'
import { locale } from '../lib/language.ts'
import { texts } from '../texts/index.ts'

interface ColumnChartProps {
  label: string
  entries: { name: string; values: number[] }[]
  /** The meaning of a column's values, from the bottom up. */
  series: string[]
}

const height = 200
const left = 52
const bottom = 24
const labelWidth = 80

/**
 * Stacked columns without a chart library, which would be larger than this whole page. A table contains the same
 * numbers.
 */
export function ColumnChart({ label, entries, series }: ColumnChartProps) {
  const figure = useRef<HTMLElement>(null)
  const width = useWidth(figure)
  const labels = Math.max(2, Math.min(6, Math.floor((width - left) / labelWidth)))
  const totals = entries.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const top = niceTop(Math.max(1, ...totals))
  const step = (width - left) / entries.length
  const y = (value: number) => (height - bottom) * (1 - value / top) + 8 * (value / top)
  return (
    <figure ref={figure} className="stack-small">
      <svg className="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line className="chart-axis" x1={left} x2={width} y1={y(value)} y2={y(value)} />
            <text className="chart-label" x={left - 8} y={y(value) + 4} textAnchor="end">
              {compact.format(value)}
            </text>
          </g>
        ))}
        {entries.map(({ name, values }, place) => {
          let base = 0
          return values.map((value, row) => {
            const from = base
            base += value
            return (
              <rect
                key={`${name}-${series[row]}`}
                className={row === 0 ? 'chart-bar' : 'chart-bar-2'}
                x={left + place * step + step * 0.15}
                width={step * 0.7}
                y={y(base)}
                height={Math.max(0, y(from) - y(base))}
                rx={1.5}
              >
                <title>{`${name}: ${formatNumber(value)} (${series[row] ?? ''})`}</title>
              </rect>
            )
          })
        })}
        {entries.map(({ name }, place) =>
          place % Math.ceil(entries.length / labels) === 0 ? (
            <text key={name} className="chart-label" x={left + place * step} y={height - 6}>
              {name}
            </text>
          ) : undefined,
        )}
      </svg>
      <figcaption className="row small muted">
        {series.map((name, row) => (
          <span key={name} className="row">
            <svg width="10" height="10" aria-hidden="true">
              <rect className={row === 0 ? 'chart-bar' : 'chart-bar-2'} width="10" height="10" rx="2" />
            </svg>
            {name}
          </span>
        ))}
      </figcaption>
      <details className="small">
        <summary>{texts.usage.asTable}</summary>
        <table className="table">
          <thead>
            <tr>
              <th>{texts.usage.day}</th>
              {series.map((name) => (
                <th key={name} className="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries
              .filter((_, place) => (totals[place] ?? 0) > 0)
              .map(({ name, values }) => (
                <tr key={name}>
                  <td>{name}</td>
                  {values.map((value, row) => (
                    <td key={series[row]} className="number">
                      {formatNumber(value)}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}

/** The pixels that an element has: letters of a drawing that is scaled to fit a phone could not be read. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(720)
  useLayoutEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.max(240, entry.contentRect.width)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}

const compact = new Intl.NumberFormat(locale, { notation: 'compact' })

function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return Math.ceil(value / power) * power
}
