import { useEffect } from 'react'
import { productName } from './product.ts'

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${productName}`
  }, [title])
}
