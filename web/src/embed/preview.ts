/** Inside the console: shows the chat bubble with the attributes that the console sends, each time anew. */
window.addEventListener('message', ({ origin, source, data }: MessageEvent<unknown>) => {
  if (origin !== window.location.origin || source !== window.parent || typeof data !== 'object' || data === null) return
  const script = document.createElement('script')
  script.src = '/embed.js'
  for (const [name, value] of Object.entries(data)) if (typeof value === 'string') script.dataset[name] = value
  script.addEventListener('load', () => {
    script.remove()
    for (const earlier of [...document.querySelectorAll('assistant-chat')].slice(0, -1)) earlier.remove()
  })
  document.body.append(script)
})
