/** The name of the product, as its operator calls it: the service writes it into the page. */
export const productName =
  document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? document.title
