/** Copies a text, also on pages that came over plain HTTP from another host and have no `navigator.clipboard`. */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  // Beside the button: what is outside of an open dialog cannot be selected.
  const place = document.activeElement?.parentElement ?? document.body
  place.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
