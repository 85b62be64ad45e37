/** Helm, which renders and installs the chart. */
export const helmProgram = {
  module: 'helm.sh/helm/v3',
  version: '3.22.0',
  sum: 'h1:n1if5iQgHYsujPAcO5oonH/KiSNUmqmUF0iGVjSF3AU=',
  folder: './cmd/helm',
}

/** The modules that have the custom resource definitions of what the chart can make. */
export const keda = {
  module: 'github.com/kedacore/keda/v2',
  version: '2.21.0',
  sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
}
export const prometheusOperator = {
  module: 'github.com/prometheus-operator/prometheus-operator',
  version: '0.85.0',
  sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
}
