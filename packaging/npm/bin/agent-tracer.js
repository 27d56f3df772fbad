#!/usr/bin/env node
"use strict";
require("./launch.js")("agent-tracer");
