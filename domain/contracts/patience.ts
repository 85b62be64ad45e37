/** How long a step of an ingestion waits in total while stores or model servers are away. */
export const defaultPatienceHours = 168
