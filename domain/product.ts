/** What the product is called unless its operator names it (PRODUCT_NAME). */
export const defaultProductName = 'Assistant Platform'
