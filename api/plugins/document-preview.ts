/**
 * The frame in which the console shows a page or a drawing that a model wrote. Nothing of it leaves the frame:
 *
 * - `sandbox` without `allow-same-origin` gives it an origin of its own: no storage, token or page of the console.
 * - `default-src 'none'` refuses every request; only what stands in the page itself is used.
 * - The page stands in a frame within this one, which inherits the policy. `frame-src 'none'` here holds for it, so
 *   that it cannot be sent to another address, which would be a request, too. Its own text is no address.
 * - No pop-ups, forms, downloads or dialogs, and no navigation of the console.
 * - Its scripts run only when the reader wants it. No policy of browsers covers what a script sends by WebRTC: its
 *   constructors are taken away before the page begins, which a script that makes a frame of its own can get around.
 */
export const documentPreviewPolicy = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  'media-src data: blob:',
  "connect-src 'none'",
  "frame-src 'none'",
  "worker-src 'none'",
  "object-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** Waits for the page, which the console sends it as a message. */
export const documentPreviewPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="robots" content="noindex">
<title>Preview</title>
<style>html,body{height:100%;margin:0;overflow:hidden}iframe{display:block;width:100%;height:100%;border:0}</style>
</head>
<body>
<iframe title="Preview" sandbox hidden></iframe>
<script>
const prelude = '<!doctype html><script>for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel"]) delete window[name]; document.currentScript.remove()<' + '/script>'
addEventListener('message', ({ source, data }) => {
  if (source !== parent || data === null || typeof data !== 'object' || typeof data.page !== 'string') return
  const frame = document.querySelector('iframe')
  const runs = data.runs === true
  frame.sandbox = runs ? 'allow-scripts' : ''
  frame.srcdoc = (runs ? prelude : '') + data.page
  frame.hidden = false
})
</script>
</body>
</html>
`
