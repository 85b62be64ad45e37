import { useEffect, useRef, useState } from 'react'

/**
 * Takes files that are dropped anywhere on the page, which the browser would open otherwise. Returns whether files are
 * being dragged over the page.
 */
export function useFileDrop(onFiles: (files: FileList) => void, isOn = true): boolean {
  const [isDragging, setDragging] = useState(false)
  const take = useRef(onFiles)
  useEffect(() => {
    take.current = onFiles
  }, [onFiles])
  useEffect(() => {
    if (!isOn) return
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setDragging(true)
    }
    // Moves within the page lead from one element to another; a move out of it leads to none.
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setDragging(false)
    }
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setDragging(false)
      if (event.dataTransfer?.files.length) take.current(event.dataTransfer.files)
    }
    const stop = new AbortController()
    window.addEventListener('dragover', onOver, stop)
    window.addEventListener('dragleave', onLeave, stop)
    window.addEventListener('drop', onDrop, stop)
    return () => stop.abort()
  }, [isOn])
  return isDragging
}
