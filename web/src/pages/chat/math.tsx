import '../../../.math/math.css'
import { useLayoutEffect, useRef } from 'react'
import { math } from '../../lib/math.ts'

/** A formula in TeX. */
export default function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const place = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    if (place.current) math.draw(tex, place.current, isBlock)
  }, [tex, isBlock])
  return <span ref={place} className={isBlock ? 'formula-block scroll-x' : 'formula'} />
}
