import * as sdk from "@google/genai";

import { serve } from "./common.mjs";
import { runner } from "./genai.mjs";

await serve("@google/genai", runner(sdk));
